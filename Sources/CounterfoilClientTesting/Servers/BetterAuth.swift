import CounterfoilTokens

/// The script of better-auth.
extension ServerScript {
    /// The script of better-auth 1.7 with its OAuth provider.
    ///
    /// - The issuer is `{origin}/api/auth`.
    /// - An unknown client or redirect URI is redirected to an error page, with `error` in its URL.
    /// - Tokens are signed with EdDSA. DPoP and registration are supported.
    static var betterAuth: ServerScript {
        var script = openIDProvider()
        script.issuerPath = "/api/auth"
        script.paths = [.keys: "/jwks", .endSession: "/oauth2/end-session"]
        script.metadata.forms = [.oauth, .openIDAppended]
        script.metadata.absent = [
            .serverInfo, .resourceMetadata, .pushedAuthorization, .deviceAuthorization, .verification,
            .registrationManagement,
        ]
        script.metadata.replaced = []
        script.sendIssuer()
        script.supportDPoP()
        script.authorization.requiresPKCE = true
        script.authorization.rejection = .errorPage("{origin}/api/auth/error")
        script.keys.algorithm = .edDSA
        return script
    }
}
