/// The script of Ory Hydra.
extension ServerScript {
    /// The script of Ory Hydra 2.3.
    ///
    /// - An unknown client or redirect URI is redirected to an error page, with `error` in its URL.
    /// - DPoP proofs are ignored, and nothing announces DPoP. There are no pushed requests and no device grant.
    /// - Reuse of a refresh token revokes all tokens of the grant.
    /// - The key set contains its keys in an order that changes.
    static var hydra: ServerScript {
        var script = openIDProvider()
        script.paths = [
            .authorization: "/oauth2/auth", .token: "/oauth2/token", .userInfo: "/userinfo",
            .keys: "/.well-known/jwks.json", .revocation: "/oauth2/revoke", .endSession: "/oauth2/sessions/logout",
            .errorPage: "/oauth2/fallbacks/error",
        ]
        script.metadata.replaced.append(
            WireMember(
                "token_endpoint_auth_methods_supported",
                ["client_secret_post", "client_secret_basic", "private_key_jwt", "none"]))
        script.authorization.rejection = .errorPage("{origin}/oauth2/fallbacks/error")
        script.refreshTokens.issue = .withScope(["offline_access", "offline"])
        script.keys.decoys = 1
        script.keys.changesOrder = true
        return script
    }

    /// The script of Ory Hydra with a client that authenticates by `private_key_jwt`.
    ///
    /// Hydra accepts only the token endpoint as the audience of a client assertion.
    public static var hydraWithClientKey: ServerScript {
        var script = hydra
        script.clients.authentication = .privateKey
        script.clients.assertionAudiences = ["{token}"]
        return script
    }
}
