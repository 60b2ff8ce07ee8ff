import HTTPTypes
import Hummingbird

/// A middleware that refuses requests of pages whose origin is not allowed.
///
/// Streamable HTTP requires it. With DNS rebinding, a page of an attacker reaches a server on the device of its visitor
/// under a host name of the attacker. The field `Origin` still names that host. Other programs send no such field.
struct OriginCheck<Context: RequestContext>: RouterMiddleware {
    let allowed: Set<String>

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let origin = request.headers[.origin], !allowed.contains(origin) else {
            return try await next(request, context)
        }
        let failure = Failure(
            code: -32600, message: "the origin is not allowed; start the server with --allow-origin", status: .forbidden
        )
        return try Answer(id: nil, .failure(failure)).response(status: failure.status)
    }
}
