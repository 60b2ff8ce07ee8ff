public import CounterfoilProtocol
public import CounterfoilResource
public import Hummingbird
import Logging
import NIOCore

/// A middleware that rejects requests without an access token that the resource server accepts.
///
/// RFC 6750 §3. Add it to a group of routes, not to a path prefix. Every spelling of a path that reaches a
/// handler then passes through the middleware.
///
/// If two middlewares of the same resource server are nested, the token is verified once. The inner one
/// checks only the scope and the authentication requirement.
public struct BearerAuthenticationMiddleware<Context: VerifiedAccessRequestContext>: RouterMiddleware {
    private let resourceServer: ResourceServer
    private let scope: Scope
    private let authentication: AuthenticationRequirement?
    private let formLimit: Int?

    /// Creates a middleware.
    ///
    /// - Parameters:
    ///   - resourceServer: The resource server that verifies the tokens.
    ///   - scope: The scope that a token must contain completely.
    ///   - authentication: The required age or authentication context of the sign-in (RFC 9470 §3); nil for any.
    ///   - limit: The maximum length in bytes of form bodies, which are searched for a second token
    ///     (RFC 6750 §2). A longer form is rejected with 413. Nil leaves bodies unread.
    public init(
        _ resourceServer: ResourceServer, requiring scope: Scope = Scope(),
        authentication: AuthenticationRequirement? = nil, checkingFormsUpTo limit: Int? = nil
    ) {
        self.resourceServer = resourceServer
        self.scope = scope
        self.authentication = authentication
        formLimit = limit
    }

    /// Verifies the request and calls the next responder.
    ///
    /// - Throws: An `AccessRefusal`, which the router turns into a response.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var request = request
        var context = context
        var form = ByteBuffer()
        if let formLimit, PresentedBearerToken.mayBeInBody(of: request.head) {
            form = try await request.collectBody(upTo: formLimit)
        }
        do throws(AccessRefusal) {
            if let access = context.verifiedAccess, resourceServer.recognizes(access) {
                try resourceServer.require(scope, of: access)
                if let authentication { try resourceServer.require(authentication, of: access) }
            } else {
                let access = try await resourceServer.access(
                    for: request.head, body: form.readableBytesView, requiring: scope)
                if let authentication { try resourceServer.require(authentication, of: access) }
                context.verifiedAccess = access
            }
        } catch {
            log(error, to: context.logger)
            throw error
        }
        return try await next(request, context)
    }

    /// Logs a refusal.
    ///
    /// The reason contains no token. The URL of the request is not logged, because it may contain one.
    private func log(_ refusal: AccessRefusal, to logger: Logger) {
        logger.log(
            level: refusal.status == .serviceUnavailable ? .warning : .debug,
            "access refused",
            metadata: ["status": "\(refusal.status.code)", "reason": "\(refusal.reason)"]
        )
    }
}

extension RouterMethods where Context: VerifiedAccessRequestContext {
    /// Creates a group of routes that require an access token with all tokens of a scope.
    ///
    /// - Parameters:
    ///   - scope: The required scope.
    ///   - resourceServer: The resource server that verifies the tokens.
    ///   - limit: The maximum length in bytes of form bodies, which are rejected if they contain a second
    ///     token. Nil leaves bodies unread.
    public func requireScope(
        _ scope: Scope, of resourceServer: ResourceServer, checkingFormsUpTo limit: Int? = nil
    ) -> RouterGroup<Context> {
        group().add(
            middleware: BearerAuthenticationMiddleware(resourceServer, requiring: scope, checkingFormsUpTo: limit))
    }
    /// Creates a group of routes that require a recent sign-in or certain authentication contexts (RFC 9470 §3).
    ///
    /// Nest it in a group of ``requireScope(_:of:checkingFormsUpTo:)``, or use it alone if any scope is sufficient.
    public func requireAuthentication(
        _ requirement: AuthenticationRequirement, of resourceServer: ResourceServer
    ) -> RouterGroup<Context> {
        group().add(middleware: BearerAuthenticationMiddleware(resourceServer, authentication: requirement))
    }
}
