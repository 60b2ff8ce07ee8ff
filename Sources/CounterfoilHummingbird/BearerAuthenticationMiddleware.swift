public import CounterfoilProtocol
public import CounterfoilResource
public import Hummingbird
import Logging
import NIOCore

/// Lets a request pass only with an access token that the resource server accepts.
///
/// RFC 6750 §3. Put it on a group of routes, not on a prefix of paths: then every spelling of a path that reaches a handler
/// has passed through it.
///
/// Where one is nested in another of the same resource server, the token is verified once and the inner one only judges its
/// scope.
public struct BearerAuthenticationMiddleware<Context: VerifiedAccessRequestContext>: RouterMiddleware {
    private let resourceServer: ResourceServer
    private let scope: Scope
    private let authentication: AuthenticationRequirement?
    private let formLimit: Int?

    /// Makes a middleware that asks for a token with all of a scope.
    ///
    /// With a limit in bytes it also reads forms, to refuse a request that holds a second token there (RFC 6750 §2); a
    /// longer form is answered with 413. Without, it does not touch the body.
    ///
    /// `authentication` says how the person must have signed in (RFC 9470 §3); nil for any way.
    public init(
        _ resourceServer: ResourceServer, requiring scope: Scope = Scope(),
        authentication: AuthenticationRequirement? = nil, checkingFormsUpTo limit: Int? = nil
    ) {
        self.resourceServer = resourceServer
        self.scope = scope
        self.authentication = authentication
        formLimit = limit
    }

    /// Judges the request and passes it on, or throws the refusal, which the router renders.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var request = request
        var context = context
        var form = ByteBuffer()
        if let formLimit, PresentedToken.mayBeInBody(of: request.head) {
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

    /// The reason holds no token, and the address of the request, which may, is left out.
    private func log(_ refusal: AccessRefusal, to logger: Logger) {
        logger.log(
            level: refusal.status == .serviceUnavailable ? .warning : .debug,
            "access refused",
            metadata: ["status": "\(refusal.status.code)", "reason": "\(refusal.reason)"]
        )
    }
}

extension RouterMethods where Context: VerifiedAccessRequestContext {
    /// A group of routes that need an access token with all of a scope.
    ///
    /// With a limit in bytes, forms are read and refused when they hold a second token.
    public func requireScope(
        _ scope: Scope, of resourceServer: ResourceServer, checkingFormsUpTo limit: Int? = nil
    ) -> RouterGroup<Context> {
        group().add(
            middleware: BearerAuthenticationMiddleware(resourceServer, requiring: scope, checkingFormsUpTo: limit))
    }
    /// A group of routes for which a person must have signed in recently enough, or in one of certain ways (RFC 9470 §3).
    ///
    /// Nest it in a group of ``requireScope(_:of:checkingFormsUpTo:)``, or use it alone where any scope will do.
    public func requireAuthentication(
        _ requirement: AuthenticationRequirement, of resourceServer: ResourceServer
    ) -> RouterGroup<Context> {
        group().add(middleware: BearerAuthenticationMiddleware(resourceServer, authentication: requirement))
    }
}
