import CounterfoilProtocol
import CounterfoilStore
import Logging

/// The details of an authorization request whose error is shown on a page, for the developer of the client.
///
/// The error page and the log line contain the same details. Anyone can send such a request, so both show what was
/// received only as ``EscapedText``. Of the redirect URIs of the client, they show only the one that is nearest to
/// the received one. A redirect URI is no secret: every authorization request contains one. But the others may name
/// hosts inside the network of the developer, and this request does not concern them.
struct RefusedRequestDetails: DeveloperDetails {
    /// `client_id` as received; nil if it is missing or repeated.
    let clientID: EscapedText?
    /// `redirect_uri` as received; nil if it was omitted, or if the client is unknown.
    private let redirectURI: EscapedText?
    /// The size of the received redirect URI in bytes.
    private let redirectURILength: Int
    private let nearest: RedirectURIPreview.Nearest?
    private let advice: Advice?
    /// The reason why the document of the client cannot be used, in English; nil if it can.
    private let documentRefusal: ClientDocumentRefusal?
    /// The client whose settings can be changed; nil if the client is unknown, or if no person has registered it.
    private let client: ClientIdentifier?

    /// The advice on what to change, and where.
    private enum Advice: String, LocalizationKey {
        case redirectURI = "problem.developer.redirect-uri"
        case unknownClient = "problem.developer.unknown-client"
        case pushedRequest = "problem.developer.pushed-request"
    }

    /// Returns nil if there is nothing to show, because the request has no `client_id`.
    init?(_ error: ResponseTargetError) {
        var received: String?
        switch error {
        case .target(_, let clientID):
            guard let clientID else { return nil }
            self.clientID = EscapedText(clientID)
            advice = nil
        case .unknownClient(let id):
            clientID = EscapedText(id.rawValue)
            advice = .unknownClient
        case .clientDocument(_, let id):
            clientID = EscapedText(id.rawValue)
            advice = nil
        case .pushedRequest(let id):
            clientID = EscapedText(id.rawValue)
            advice = .pushedRequest
        case .cannotSignIn(let client):
            clientID = EscapedText(client.id.rawValue)
            advice = nil
        case .redirectURI(_, let redirectURI, let client):
            clientID = EscapedText(client.id.rawValue)
            received = redirectURI
            advice = .redirectURI
        }
        documentRefusal = if case .clientDocument(let refusal, _) = error { refusal } else { nil }
        client = error.client.flatMap { $0.isUnregistered ? nil : $0.id }
        redirectURI = received.map { EscapedText($0) }
        redirectURILength = received?.utf8.count ?? 0
        nearest = error.nearest
    }

    /// The fields of the log line: `redirect_uri`, `nearest_redirect_uri`, `difference`, `document` and `failure`.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if let redirectURI { metadata["redirect_uri"] = "\(redirectURI)" }
        if let nearest {
            metadata["nearest_redirect_uri"] = "\(EscapedText(nearest.registered.rawValue))"
            metadata["difference"] = "\(nearest.differences.map { Localizer.english($0) }.joined(separator: " "))"
        }
        if let documentRefusal { metadata["document"] = "\(documentRefusal)" }
        if case .notFetched(let failure) = documentRefusal { metadata["failure"] = "\(failure)" }
        return metadata
    }

    /// Creates the section of the error page.
    func section(in words: Localizer, issuer: Issuer, pages: LinkedPages) -> ProblemPage.DeveloperSection {
        let cut = LocalizedText("problem.developer.cut", ["length": .number(redirectURILength)])
        return ProblemPage.DeveloperSection(
            clientID: clientID?.description, redirectURI: redirectURI?.description,
            cut: redirectURI?.isCut == true ? words(cut) : nil,
            registered: nearest.map { EscapedText($0.registered.rawValue).description },
            differences: nearest?.differences.map { words($0) } ?? [],
            advice: advice.map { words($0) }
                ?? documentRefusal.map { refusal in
                    words(
                        LocalizedText("problem.developer.client-document", ["reason": .text(refusal.description)]))
                },
            settings: client.map { issuer.path + pages.clientSettings.path(of: $0) })
    }
}

extension ResponseTargetError {
    /// The registered redirect URI that is most similar to the received one; nil if the two cannot be compared.
    fileprivate var nearest: RedirectURIPreview.Nearest? {
        guard case .redirectURI(let refusal, let received?, let client) = self else { return nil }
        return refusal.nearest(to: received, of: client)
    }
}
