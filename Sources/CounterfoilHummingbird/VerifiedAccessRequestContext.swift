public import CounterfoilResource
public import Hummingbird

/// A request context that stores the verified access of a request.
public protocol VerifiedAccessRequestContext: RequestContext {
    /// The verified access; nil until ``BearerAuthenticationMiddleware`` has run.
    var verifiedAccess: VerifiedAccess? { get set }
}

extension VerifiedAccessRequestContext {
    /// Returns the verified access of the request.
    ///
    /// - Throws: ``UnprotectedRouteError`` if the route has no ``BearerAuthenticationMiddleware``, so that
    ///   a request is never treated as anonymous.
    public func requireAccess() throws -> VerifiedAccess {
        guard let verifiedAccess else { throw UnprotectedRouteError() }
        return verifiedAccess
    }

    /// Returns the user on whose behalf the client acts.
    ///
    /// - Throws: A refusal with status 403 if the client acts for itself, or ``UnprotectedRouteError``.
    public func requireUser() throws -> VerifiedAccess.User {
        try requireAccess().user()
    }
}

/// A minimal request context with storage for the verified access.
public struct BasicVerifiedAccessRequestContext: VerifiedAccessRequestContext {
    /// The storage that Hummingbird requires.
    public var coreContext: CoreRequestContextStorage
    /// The verified access; nil until ``BearerAuthenticationMiddleware`` has run.
    public var verifiedAccess: VerifiedAccess?

    /// Creates the context of a new request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}

/// The error of a handler that requires a verified access on a route without ``BearerAuthenticationMiddleware``.
///
/// It is a programming error of the API.
public struct UnprotectedRouteError: Error, Sendable, CustomStringConvertible {
    /// The cause of the error.
    public var description: String {
        "the route has no BearerAuthenticationMiddleware; create its group with requireScope or requireAuthentication"
    }
}
