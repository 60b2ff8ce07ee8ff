#if Hummingbird
    public import CounterfoilResource
    public import Hummingbird

    /// An `AccessRefusal` that a middleware or a handler throws becomes the response to the request.
    @available(macOS 14, iOS 17, *)
    extension AccessRefusal: HTTPResponseError {
        /// Creates the response with the status, the header fields and the JSON body of the refusal.
        public func response(from request: Request, context: some RequestContext) throws -> Response {
            Response(status: status, headers: headerFields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
        }
    }
#endif
