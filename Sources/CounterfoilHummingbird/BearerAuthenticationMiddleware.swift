#if Hummingbird
    public import CounterfoilProtocol
    public import CounterfoilResource
    import HTTPTypes
    public import Hummingbird
    import Logging
    import NIOCore

    /// A middleware that rejects a request unless the resource server accepts its access token.
    ///
    /// The responses follow RFC 6750 §3. A token that is bound to a key is accepted with the scheme DPoP and a proof of
    /// its key (RFC 9449 §7). If the resource server uses nonces, each response to a request with a proof contains a
    /// fresh one, also that of an `HTTPResponseError` that a handler throws. The status 500 of any other error contains
    /// none.
    ///
    /// Add the middleware to a group of routes instead of comparing path
    /// prefixes. The router then runs it for every spelling of a path that reaches a handler of the group.
    ///
    /// If two middlewares of the same resource server are nested, only the outer one verifies the token. The inner
    /// middleware checks only the scope and the authentication requirement.
    @available(macOS 14, iOS 17, *)
    public struct BearerAuthenticationMiddleware<Context: VerifiedAccessRequestContext>: RouterMiddleware {
        private let resourceServer: ResourceServer
        private let scope: Scope
        private let authentication: AuthenticationRequirement?
        private let formLimit: Int?

        /// Creates a middleware that requires a valid access token and, optionally, a scope and a recent sign-in.
        ///
        /// - Parameters:
        ///   - resourceServer: The resource server that verifies the tokens.
        ///   - scope: The required scope. The access token must grant all its scope tokens. By default, no scope is
        ///     required.
        ///   - authentication: The required maximum age or authentication context of the sign-in (RFC 9470 §3). If
        ///     nil, any sign-in is sufficient.
        ///   - limit: The maximum length in bytes of a form body; a longer form is rejected with status 413. The
        ///     middleware reads forms to reject a request that has a token in its header and another one as
        ///     `access_token` in its form (RFC 6750 §2). If nil, the middleware reads no bodies.
        public init(
            _ resourceServer: ResourceServer, requiring scope: Scope = Scope(),
            authentication: AuthenticationRequirement? = nil, checkingFormsUpTo limit: Int? = nil
        ) {
            self.resourceServer = resourceServer
            self.scope = scope
            self.authentication = authentication
            formLimit = limit
        }

        /// Verifies the access token of the request, and calls the next responder with the verified access in the
        /// context.
        ///
        /// - Throws: An `AccessRefusal`, which the router turns into a response.
        public func handle(
            _ request: Request,
            context: Context,
            next: (Request, Context) async throws -> Response
        ) async throws -> Response {
            try await supplyingNonce(to: request.head) {
                var request = request
                var context = context
                var form = ByteBuffer()
                if let formLimit, PresentedToken.mayBeInBody(of: request.head) {
                    form = try await request.collectBody(upTo: formLimit)
                }
                do throws(AccessRefusal) {
                    context.verifiedAccess = try await access(for: request.head, form: form, in: context)
                } catch {
                    log(error, to: context.logger)
                    throw error
                }
                return try await next(request, context)
            }
        }

        /// Returns the verified access of a request, which an outer middleware of the same resource server may have
        /// verified.
        private func access(
            for request: HTTPRequest, form: ByteBuffer, in context: Context
        ) async throws(AccessRefusal) -> VerifiedAccess {
            let access: VerifiedAccess
            if let verified = context.verifiedAccess, resourceServer.recognizes(verified) {
                access = try resourceServer.access(verified, requiring: scope)
            } else {
                access = try await resourceServer.access(for: request, body: form.readableBytesView, requiring: scope)
            }
            if let authentication { try resourceServer.require(authentication, of: access) }
            return access
        }

        /// Adds the nonce for the next proof to the response of the next responder, or to that of the error that it
        /// throws.
        ///
        /// An error without a response of its own is thrown as it is: Hummingbird logs it and responds with status 500.
        /// The client then keeps its former nonce (RFC 9449 §8.2).
        private func supplyingNonce(
            to request: HTTPRequest, _ respond: () async throws -> Response
        ) async throws -> Response {
            guard let nonce = resourceServer.proofNonce(for: request) else { return try await respond() }
            do {
                var response = try await respond()
                response.headers.supply(nonce: nonce)
                return response
            } catch var refusal as AccessRefusal {
                refusal.proofNonce = nonce
                throw refusal
            } catch let error as any HTTPResponseError {
                throw ErrorWithNonce.supplying(nonce, with: error)
            }
        }

        /// Logs the status and the reason of a refusal.
        ///
        /// The reason contains no token. The URL of the request is not logged, because its query may contain a token.
        private func log(_ refusal: AccessRefusal, to logger: Logger) {
            logger.log(
                level: refusal.status == .serviceUnavailable ? .warning : .debug,
                "access refused",
                metadata: ["status": "\(refusal.status.code)", "reason": "\(refusal.reason)"]
            )
        }
    }

    @available(macOS 14, iOS 17, *)
    extension RouterMethods where Context: VerifiedAccessRequestContext {
        /// Creates a group of routes that require an access token with a scope.
        ///
        /// - Parameters:
        ///   - scope: The required scope. The access token must grant all its scope tokens.
        ///   - resourceServer: The resource server that verifies the tokens.
        ///   - limit: The maximum length in bytes of a form body; a longer form is rejected with status 413. The
        ///     middleware reads forms to reject a request that has a token in its header and another one as
        ///     `access_token` in its form (RFC 6750 §2). If nil, the middleware reads no bodies.
        public func requireScope(
            _ scope: Scope, of resourceServer: ResourceServer, checkingFormsUpTo limit: Int? = nil
        ) -> RouterGroup<Context> {
            group().add(
                middleware: BearerAuthenticationMiddleware(resourceServer, requiring: scope, checkingFormsUpTo: limit))
        }
        /// Creates a group of routes that require a recent sign-in or certain authentication contexts (RFC 9470 §3).
        ///
        /// The group accepts an access token with any scope. To require a scope too, create the group inside a group of
        /// ``requireScope(_:of:checkingFormsUpTo:)``.
        public func requireAuthentication(
            _ requirement: AuthenticationRequirement, of resourceServer: ResourceServer
        ) -> RouterGroup<Context> {
            group().add(middleware: BearerAuthenticationMiddleware(resourceServer, authentication: requirement))
        }
    }
#endif
