import CounterfoilTokens

/// The scripts of the products.
extension ServerScript {
    /// The script of Keycloak 26.
    ///
    /// - The issuer has a path, and the metadata are at OpenID's URL only.
    /// - An unknown client or redirect URI gets an error page with status 400.
    /// - A token request with a foreign `Origin` fails, and other responses allow every origin to read them with
    ///   cookies.
    /// - Pushed requests, DPoP, `iss` and the device grant are supported.
    /// - A registration with the scope `openid` fails.
    static var keycloak: ServerScript {
        var script = openIDProvider()
        script.issuerPath = "/realms/photos"
        let path = "/protocol/openid-connect"
        script.paths = [
            .authorization: "\(path)/auth", .token: "\(path)/token", .userInfo: "\(path)/userinfo",
            .keys: "\(path)/certs", .revocation: "\(path)/revoke", .endSession: "\(path)/logout",
            .deviceAuthorization: "\(path)/auth/device", .verification: "/device",
            .pushedAuthorization: "\(path)/ext/par/request", .registration: "/clients-registrations/openid-connect",
            .registrationManagement: "/clients-registrations/openid-connect/client",
        ]
        script.metadata.forms = [.openIDAppended]
        script.metadata.absent = [.serverInfo, .resourceMetadata]
        script.sendIssuer()
        script.supportDPoP()
        script.allowsEveryOrigin = true
        script.clients.refusalOfForeignOrigins = "not_allowed"
        script.refreshTokens.rotation = .repeated
        script.registration.refusedScopes = ["openid"]
        script.registration.isManageable = true
        return script
    }

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

    /// The script of Spring Authorization Server 1.5, as Spring Boot configures it.
    ///
    /// - The document of RFC 8414 lacks `userinfo_endpoint` and `end_session_endpoint`, which OpenID's document has.
    /// - Pushed requests and the device grant are announced, but not enabled: their endpoints respond with status 401
    ///   and without an OAuth error.
    /// - A client that does not authenticate gets no refresh token.
    static var springAuthorizationServer: ServerScript {
        var script = openIDProvider()
        script.paths = [
            .authorization: "/oauth2/authorize", .token: "/oauth2/token", .userInfo: "/userinfo",
            .keys: "/oauth2/jwks", .revocation: "/oauth2/revoke", .endSession: "/connect/logout",
            .deviceAuthorization: "/oauth2/device_authorization", .pushedAuthorization: "/oauth2/par",
        ]
        script.metadata.forms = [.oauth, .openID, .openIDAppended]
        script.metadata.absent = [
            .serverInfo, .resourceMetadata, .registration, .registrationManagement, .verification,
        ]
        script.metadata.omittedAt = [.oauth: ["userinfo_endpoint", "end_session_endpoint"]]
        script.metadata.replaced = [
            WireMember(
                "token_endpoint_auth_methods_supported",
                ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"])
        ]
        script.supportDPoP()
        script.authorization.requiresPKCE = true
        script.refreshTokens.issue = .toAuthenticatedClients
        script.interruptions = [
            Interruption(at: .pushedAuthorization, .trouble(401)),
            Interruption(at: .deviceAuthorization, .trouble(401)),
        ]
        return script
    }

    /// The script of the provider of zitadel/oidc 3.
    ///
    /// - The issuer ends with a slash.
    /// - Responses allow every origin to read them with cookies.
    /// - A poll of the device grant fails with `server_error` and status 500 if the user has not approved it.
    static var zitadelOIDC: ServerScript {
        var script = openIDProvider()
        script.issuer = "{origin}/"
        script.paths = [
            .authorization: "/authorize", .token: "/oauth/token", .userInfo: "/userinfo", .keys: "/keys",
            .revocation: "/revoke", .endSession: "/end_session", .deviceAuthorization: "/device_authorization",
        ]
        script.metadata.absent = [
            .serverInfo, .resourceMetadata, .pushedAuthorization, .registration, .registrationManagement,
        ]
        script.metadata.replaced = []
        script.allowsEveryOrigin = true
        script.device.polls = [.answer(.refusal("server_error", "no approval", status: 500))]
        return script
    }

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

    /// The script of Canaille 0.3.
    ///
    /// - A request with `prompt=none` gets a page with status 500.
    /// - Redirect URIs are compared with their port, so the client has the port 18080 registered.
    /// - Both standards' metadata are published, and clients can register themselves.
    static var canaille: ServerScript {
        var script = openIDProvider()
        script.paths = [
            .authorization: "/oauth/authorize", .token: "/oauth/token", .userInfo: "/oauth/userinfo",
            .keys: "/oauth/jwks.json", .revocation: "/oauth/revoke", .endSession: "/oauth/end_session",
            .registration: "/oauth/register", .registrationManagement: "/oauth/register/client",
        ]
        script.metadata.forms = [.oauth, .openID, .openIDAppended]
        script.metadata.absent = [
            .serverInfo, .resourceMetadata, .pushedAuthorization, .deviceAuthorization, .verification,
        ]
        script.authorization.silentResponse = .page(500)
        script.clients.redirects = .exactly(["http://127.0.0.1:18080/callback"])
        script.registration.isManageable = true
        return script
    }

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
