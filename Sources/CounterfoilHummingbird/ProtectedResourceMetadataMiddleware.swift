#if Hummingbird
    public import CounterfoilResource
    public import Hummingbird

    /// A middleware that serves the metadata of an API at `/.well-known/oauth-protected-resource` and the path of the
    /// API.
    ///
    /// RFC 9728 §3. It responds to requests for the URL of `ResourceServer.metadata`, and passes on all others. The
    /// document is public, and scripts of every origin can read it.
    ///
    /// Add it to the router before every other middleware. Otherwise a CORS middleware for certain origins hides the
    /// document from scripts of other origins, and a ``BearerAuthenticationMiddleware`` refuses the request.
    @available(macOS 14, iOS 17, *)
    public struct ProtectedResourceMetadataMiddleware<Context: RequestContext>: RouterMiddleware {
        private let metadata: ProtectedResourceMetadata

        /// Creates a middleware for one API.
        ///
        /// Add one for each API that has a description of its own.
        ///
        /// - Throws: ``UnpublishedResourceError`` if the resource server has no metadata.
        public init(_ resourceServer: ResourceServer) throws(UnpublishedResourceError) {
            guard let metadata = resourceServer.metadata else {
                throw UnpublishedResourceError(audience: resourceServer.audience)
            }
            self.metadata = metadata
        }

        /// Responds to a request for the metadata, and calls the next responder for any other request.
        public func handle(
            _ request: Request, context: Context, next: (Request, Context) async throws -> Response
        ) async throws -> Response {
            guard let answer = metadata.response(to: request.head) else { return try await next(request, context) }
            let response = Response(
                status: answer.status, headers: answer.headerFields,
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    /// The error thrown if an API is to serve metadata that it does not have.
    ///
    /// It indicates a programming error in the API or a wrong audience, so the program should not start.
    @available(macOS 14, iOS 17, *)
    public struct UnpublishedResourceError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The audience of the API.
        public let audience: String

        /// The cause of the error, and how to correct it.
        public var description: String {
            "the API \(audience) has no metadata: pass a ResourceDescription to its ResourceServer (publishing:), and make "
                + "its audience the http or https URL of the API"
        }
    }
#endif
