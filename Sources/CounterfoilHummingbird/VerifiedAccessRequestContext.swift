public import CounterfoilResource
public import Hummingbird

/// A request context that has room for what an access token proved.
public protocol VerifiedAccessRequestContext: RequestContext {
    /// What was proved; nil until ``BearerAuthenticationMiddleware`` has run.
    var verifiedAccess: VerifiedAccess? { get set }
}

extension VerifiedAccessRequestContext {
    /// What was proved; a route that forgot its middleware gets an error here and never an anonymous request.
    public func requireAccess() throws -> VerifiedAccess {
        guard let verifiedAccess else { throw UnprotectedRouteError() }
        return verifiedAccess
    }

    /// The person for whom the application acts; 403 when the application acts for itself.
    public func requirePerson() throws -> VerifiedAccess.Person {
        try requireAccess().person()
    }
}

/// A request context with room for what an access token proved and nothing else.
public struct BasicVerifiedAccessRequestContext: VerifiedAccessRequestContext {
    /// What Hummingbird keeps.
    public var coreContext: CoreRequestContextStorage
    /// What was proved.
    public var verifiedAccess: VerifiedAccess?

    /// Makes a context of a new request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}

/// A handler asked for a verified access on a route without ``BearerAuthenticationMiddleware``: a fault of the API.
public struct UnprotectedRouteError: Error, Sendable, CustomStringConvertible {
    /// What to do about it.
    public var description: String { "this route has no BearerAuthenticationMiddleware in front of it" }
}
