public import CounterfoilResource
public import Hummingbird

/// A refusal answers for itself, whether a middleware or a handler throws it.
extension AccessRefusal: HTTPResponseError {
    /// The response: status, challenge and a small JSON body.
    public func response(from request: Request, context: some RequestContext) throws -> Response {
        Response(status: status, headers: headerFields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
