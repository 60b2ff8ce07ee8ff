/// The script of node-oidc-provider.
extension ServerScript {
    /// The script of node-oidc-provider 9.
    ///
    /// - A grant has `offline_access` and a refresh token only if the request has `prompt=consent`.
    /// - Reuse of a refresh token revokes all tokens of the grant.
    /// - Pushed requests, DPoP, `iss`, the device grant and registration are supported.
    static var oidcProvider: ServerScript {
        var script = openIDProvider()
        script.paths = [
            .authorization: "/auth", .token: "/token", .userInfo: "/me", .keys: "/jwks",
            .revocation: "/token/revocation", .endSession: "/session/end", .deviceAuthorization: "/device/auth",
            .verification: "/device", .pushedAuthorization: "/request", .registration: "/reg",
            .registrationManagement: "/reg/client",
        ]
        script.metadata.absent = [.serverInfo, .resourceMetadata]
        script.metadata.replaced = []
        script.sendIssuer()
        script.supportDPoP()
        script.authorization.requiresPKCE = true
        script.refreshTokens.issue = .withConsentPrompt
        script.registration.isManageable = true
        return script
    }
}
