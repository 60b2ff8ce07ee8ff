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

    private let settings: ServerSettings

    /// Creates a responder for the origins of a server.
    public init(_ settings: ServerSettings) { self.settings = settings }

    /// Responds to GET and HEAD with status 308, and to other requests with status 403.
    public func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
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
