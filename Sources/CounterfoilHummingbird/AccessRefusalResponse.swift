public import CounterfoilResource
public import Hummingbird

/// The response for a refusal that a middleware or a handler throws.
extension AccessRefusal: HTTPResponseError {
    /// Creates the response: status, challenge and a small JSON body.
    public func response(from request: Request, context: some RequestContext) throws -> Response {
        Response(status: status, headers: headerFields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
