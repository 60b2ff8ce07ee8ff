import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import TestSupport

/// A scripted server product, and a sign-in as its documentation describes it.
enum PlayedProduct {
    /// Runs a test with a product; `change` adapts its script.
    static func run(
        _ product: ScriptedProduct, changing change: (inout ServerScript) -> Void = { _ in },
        _ body: @escaping @Sendable (ScriptedAuthorizationServer) async throws -> Void
    ) async throws {
        var script = ServerScript.product(product)
        change(&script)
        try await ScriptedAuthorizationServer.run(script) { server in try await body(server) }
    }

    /// Creates a sign-in of the registered client.
    static func signIn(
        at server: ScriptedAuthorizationServer, scope: String = "openid profile offline_access"
    ) throws -> NativeSignIn {
        var signIn = try NativeSignIn(issuer: server.publishedIssuer, clientID: "lightbox", scope: scope)
        prepare(&signIn)
        return signIn
    }

    /// Sets the browser and a time limit that a hanging test reaches.
    static func prepare(_ signIn: inout NativeSignIn) {
        signIn.browser = ScriptedBrowser()
        signIn.timeout = .seconds(60)
        // Without this, all sign-ins in one process would need different redirect URIs.
        signIn.redirectURIUses = RedirectURIUses()
    }
}
