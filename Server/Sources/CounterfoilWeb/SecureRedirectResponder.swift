import CounterfoilServer
import HTTPListener
import HTTPTypes
import IPAddresses

/// Answers plain http with a redirect to the same path of the https origin.
///
/// Only what is read is redirected. Any other request has sent its content unprotected already, and a redirect would
/// hide that from the developer of the client.
struct SecureRedirectResponder: Responder {
    /// The path before the token of a challenge (RFC 8555 §8.3).
    private static let challengePath = "/.well-known/acme-challenge/"

    private let settings: ServerSettings
    private let challenges: PendingChallenges?
    private let date = DateField()

    /// Creates a responder for the origins of a server.
    ///
    /// - Parameter challenges: The challenges of an authority that it answers; nil for none.
    init(_ settings: ServerSettings, answering challenges: PendingChallenges? = nil) {
        self.settings = settings
        self.challenges = challenges
    }

    func routed(_ head: HTTPRequest, from address: IPAddress?) -> RoutedRequest {
        RoutedRequest(head) { _ in await answer(head) }
    }

    /// Responds to GET and HEAD with status 308, and to other requests with status 403.
    ///
    /// The path of a pending challenge gets the key authorization.
    private func answer(_ head: HTTPRequest) async -> Answer {
        let origin = settings.publicOrigin(for: head)
        var response: HTTPResponse
        var body: [UInt8] = []
        let path = head.path ?? "/"
        if let challenges, head.method == .get, path.hasPrefix(Self.challengePath),
            let answer = await challenges.answer(toToken: String(path.dropFirst(Self.challengePath.count)))
        {
            response = HTTPResponse(status: .ok, headerFields: [.contentType: "application/octet-stream"])
            body = Array(answer.utf8)
        } else if head.method == .get || head.method == .head {
            response = HTTPResponse(
                status: .permanentRedirect, headerFields: [.location: origin + (path.hasPrefix("/") ? path : "/")])
        } else {
            body = Array("This server accepts requests over https only. Use \(origin).\n".utf8)
            response = HTTPResponse(
                status: .forbidden, headerFields: [.contentType: "text/plain; charset=utf-8"])
        }
        response.headerFields[.cacheControl] = "no-store"
        response.headerFields[.contentLength] = String(body.count)
        response.headerFields[.date] = date.text()
        return (response, body)
    }
}
