import CounterfoilProtocol
import CounterfoilStore
import HTTPTypes

extension AdministrationOperation {
    /// The check of a redirect URI that a client would send.
    static let redirectURIs: [AdministrationOperation] = [
        AdministrationOperation(
            "checkRedirectURI", .get, "/clients/{client}/redirect-uri", .readClients, query: ["redirect_uri"],
            answer: .object(RedirectURICheckDocument.self)
        ) { call in
            let client = try await call.anyClient()
            guard let uri = call.query.text("redirect_uri") else {
                throw ProblemError.refusedParameters([.parameter("redirect_uri", "It is required.")])
            }
            let rules = call.clientRules
            let verdict = RedirectURIMatching.verdict(
                on: uri, of: client, asksForOpenID: false, issuer: rules.issuer, callbackOrigin: rules.callbackOrigin,
                allowsDevelopment: rules.allowsDevelopment)
            return try AdministrationAnswer(RedirectURICheckDocument(verdict, on: uri, of: client))
        }
    ]
}

/// The verdict on a redirect URI in a request, in answers of the administration API.
struct RedirectURICheckDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable { case matches, registered, reason, nearest, differences }

    let matches: Bool
    /// The registered URI that the URI matches; nil if it matches none.
    private(set) var registered: String?
    /// The reason of a refusal.
    private(set) var reason: String?
    /// The registered URI that is most similar to a refused one.
    private(set) var nearest: String?
    /// The differences between a refused URI and the nearest one.
    private(set) var differences: [String]?

    init(_ verdict: RedirectURIMatching.MatchVerdict, on uri: String, of client: RegisteredClient) {
        switch verdict {
        case .matches(let match):
            matches = true
            registered = match.registered.rawValue
        case .refused(let refusal):
            matches = false
            reason = Localizer.english(refusal.text)
            let similar = refusal.nearest(to: uri, of: client)
            nearest = similar?.registered.rawValue
            differences = similar?.differences.map { Localizer.english($0) }
        }
    }
}
