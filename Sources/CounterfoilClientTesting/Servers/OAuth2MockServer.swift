/// The script of oauth2-mock-server.
extension ServerScript {
    /// The script of oauth2-mock-server 8.
    ///
    /// - Every client and every redirect URI is accepted, and every request gets a code at once, also with
    ///   `prompt=none`.
    /// - Every grant gets a refresh token, which a refresh does not replace.
    static var oauth2MockServer: ServerScript {
        var script = openIDProvider()
        script.paths = [
            .authorization: "/authorize", .token: "/token", .userInfo: "/userinfo", .keys: "/jwks",
            .revocation: "/revoke", .endSession: "/endsession",
        ]
        script.metadata.replaced = [WireMember("code_challenge_methods_supported", ["plain", "S256"])]
        script.clients.known = nil
        script.clients.redirects = .any
        script.authorization.silentResponse = .code
        script.refreshTokens.issue = .always
        script.refreshTokens.rotation = .repeated
        return script
    }
}
