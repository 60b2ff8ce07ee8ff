@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

/// A question to the page of the owner: the request with which the user continues, and what it demands.
struct ExternalSignInQuestion: Sendable {
    /// The maximum length of ``request`` in bytes, so that a request has room for the cookies of several.
    static let requestLimit = 1024

    let door: SignInDoor
    /// The request with which the user continues.
    let request: String
    var client: ClientIdentifier?
    var clientName: DisplayName?
    var loginHint: String?
    /// The values of `prompt` that concern the sign-in.
    var prompt: [String] = []
    /// The maximum age of the sign-in in seconds.
    var maxAge: Int?
    /// The values of `acr` that the client accepts, the weakest one first; empty for any.
    var contexts: [String] = []
    var languages: [String] = []

    init(door: SignInDoor, request: String) {
        self.door = door
        self.request = request
    }
}

/// The way of a browser to the page of the owner and back: the signed request, the cookie that binds the response to
/// the browser, and the verification of the response.
struct ExternalSignInRequests: Sendable {
    /// The lifetime of a request in seconds.
    static let lifetime: TimeInterval = 300
    /// The maximum number of sign-ins of a browser that wait for the page; the oldest ones beyond it are forgotten.
    static let waitingLimit = 4

    let settings: ServerSettings
    let external: ExternalSignIn
    let keys: any SigningKeys
    let cookies: Cookies
    /// The keys that encrypt the cookie.
    let sealing: DerivedKeys
    let random: RandomBytes
    let wallClock: @Sendable () -> Date

    /// Returns the redirect to the page, which sets the cookie.
    func redirect(_ question: ExternalSignInQuestion, in request: IncomingRequest) throws -> Reply {
        let algorithm = SigningAlgorithm.es256
        guard let key = keys.key(for: algorithm) else { throw TokenIssuer.KeyMissing(algorithm: algorithm) }
        let (id, time) = (Base64URL.encode(random.bytes(16)), wallClock())
        var claims = SignInRequestClaims(
            issuer: settings.issuer, audience: external.page.rawValue, requestID: id, issuedAt: time,
            expires: time.addingTimeInterval(Self.lifetime),
            responseURI: settings.issuer.endpoint(Endpoint.externalSignIn.path))
        claims.clientID = question.client
        claims.clientName = question.clientName?.description
        claims.loginHint = question.loginHint
        claims.prompt = question.prompt
        claims.maxAge = question.maxAge
        claims.contexts = question.contexts
        claims.languages = question.languages
        let pending = PendingExternalSignIn(
            id: id, door: question.door, request: question.request, client: question.client, startedAt: time,
            maxAge: question.prompt.contains("login") ? 0 : question.maxAge)
        let url = external.page.appending(FormParameters(["request": try key.sign(claims)]))
        return Reply.seeOther(url)
            .setting(surplus(in: request).map(cookies.noExternal))
            .setting(cookies.external(id, try pending.cookie(keys: sealing), for: settings.pageLifetime))
    }

    /// Verifies a response of the page.
    func verify(_ response: String) throws(TokenRefusal) -> VerifiedSignInResponse {
        try SignInResponseVerifier(issuer: external.issuer, audience: settings.issuer)
            .verify(response, keys: external.keys, at: wallClock())
    }

    /// Returns the sign-in to which a response belongs; nil if the browser of a request has not begun it.
    func pending(_ id: String, in request: IncomingRequest) -> PendingExternalSignIn? {
        guard Self.isIdentifier(id), let cookie = request.cookie(cookies.externalName + id) else { return nil }
        return PendingExternalSignIn(
            cookie: cookie, of: id, keys: sealing, lifetime: settings.pageLifetime, now: wallClock())
    }

    /// Returns the age in seconds of a sign-in at the page; nil if it is longer ago than the request demands.
    func age(of user: VerifiedSignInResponse.SignedInUser, for pending: PendingExternalSignIn) -> TimeInterval? {
        pending.age(of: user.authenticatedAt, now: wallClock())
    }

    private static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 22 && Base64URL.decode(text) != nil
    }

    /// Returns the identifiers of the sign-ins that are too many with a further one.
    ///
    /// A browser sends the cookies that it has longer before the others (RFC 6265 §5.4).
    private func surplus(in request: IncomingRequest) -> [String] {
        let waiting = request.head.headerFields[values: .cookie].flatMap { $0.split(separator: ";") }
            .compactMap { piece in
                let name = piece.prefix { $0 != "=" }.drop { $0 == " " }
                return name.hasPrefix(cookies.externalName) ? String(name.dropFirst(cookies.externalName.count)) : nil
            }
            .filter(Self.isIdentifier)
        return Array(waiting.prefix(max(0, waiting.count - Self.waitingLimit + 1)))
    }
}
