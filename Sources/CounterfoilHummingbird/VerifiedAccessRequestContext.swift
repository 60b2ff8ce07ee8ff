#if Hummingbird
    public import CounterfoilResource
    public import Hummingbird

    /// A request context that stores the verified access of a request: what a valid access token allows, and for whom.
    @available(macOS 14, iOS 17, *)
    public protocol VerifiedAccessRequestContext: RequestContext {
        /// The verified access; nil until ``BearerAuthenticationMiddleware`` has accepted the access token.
        var verifiedAccess: VerifiedAccess? { get set }
    }

    @available(macOS 14, iOS 17, *)
    extension VerifiedAccessRequestContext {
        /// Returns the verified access of the request: the client, the granted scope and, if there is one, the user.
        ///
        /// - Throws: ``UnprotectedRouteError`` if the route has no ``BearerAuthenticationMiddleware``. The error
        ///   prevents a handler from treating such a request as anonymous.
        public func requireAccess() throws -> VerifiedAccess {
            guard let verifiedAccess else { throw UnprotectedRouteError() }
            return verifiedAccess
        }

        /// Returns the user on whose behalf the client acts.
        ///
        /// - Throws: An `AccessRefusal` with status 403 if the client acts for itself, or ``UnprotectedRouteError``
        ///   if the route has no ``BearerAuthenticationMiddleware``.
        public func requireUser() throws -> VerifiedAccess.User {
            try requireAccess().user()
        }
    }

    /// A minimal request context with storage for the verified access.
    @available(macOS 14, iOS 17, *)
    public struct BasicVerifiedAccessRequestContext: VerifiedAccessRequestContext {
        /// The storage that Hummingbird requires of every request context.
        public var coreContext: CoreRequestContextStorage
        /// The verified access; nil until ``BearerAuthenticationMiddleware`` has accepted the access token.
        public var verifiedAccess: VerifiedAccess?

        /// Creates the context of a new request; Hummingbird calls it for each request.
        public init(source: ApplicationRequestContextSource) {
            coreContext = CoreRequestContextStorage(source: source)
        }
    }

    /// The error thrown if a handler requires the verified access on a route without
    /// ``BearerAuthenticationMiddleware``.
    ///
    /// It indicates a programming error in the API, not an error of the client, so the response has status 500.
    @available(macOS 14, iOS 17, *)
    public struct UnprotectedRouteError: Error, Sendable, CustomStringConvertible {
        /// The cause of the error, and how to correct the routes.
        public var description: String {
            "the route has no BearerAuthenticationMiddleware; create its group with requireScope or requireAuthentication"
        }
    }
#endif
