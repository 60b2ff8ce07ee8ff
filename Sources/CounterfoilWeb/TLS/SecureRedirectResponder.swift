public import CounterfoilServer
import HTTPTypes
public import Hummingbird
import NIOCore

/// Answers plain http with a redirect to the same path of the https origin.
///
/// Only what is read is redirected. Any other request has sent its content unprotected already, and a redirect would
/// hide that from the developer of the client.
public struct SecureRedirectResponder: HTTPResponder {
    /// The request context of Hummingbird, without additional values.
    public typealias Context = BasicRequestContext

    /// The path before the token of a challenge (RFC 8555 §8.3).
    private static let challengePath = "/.well-known/acme-challenge/"

    private let settings: ServerSettings
    private let challenges: PendingChallenges?

    /// Creates a responder for the origins of a server.
    public init(_ settings: ServerSettings) { self.init(settings, answering: nil) }

    /// Creates a responder that also answers the challenges of an authority.
    package init(_ settings: ServerSettings, answering challenges: PendingChallenges?) {
        self.settings = settings
        self.challenges = challenges
    }

    /// Responds to GET and HEAD with status 308, and to other requests with status 403.
    ///
    /// The path of a pending challenge gets the key authorization.
    public func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        if let challenges, request.method == .get, let path = request.head.path, path.hasPrefix(Self.challengePath),
            let answer = await challenges.answer(toToken: String(path.dropFirst(Self.challengePath.count)))
        {
            return Response(
                status: .ok, headers: [.contentType: "application/octet-stream", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: answer)))
        }
        let origin = settings.publicOrigin(for: request.head)
        guard request.method == .get || request.method == .head else {
            return Response(
                status: .forbidden, headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(
                    byteBuffer: ByteBuffer(string: "This server accepts requests over https only. Use \(origin).\n")))
        }
        let path = request.head.path ?? "/"
        return Response(
            status: .permanentRedirect,
            headers: [.location: origin + (path.hasPrefix("/") ? path : "/"), .cacheControl: "no-store"])
    }
}
