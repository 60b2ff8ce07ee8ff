import CounterfoilTokens

/// Scripts of identity providers.
extension ServerScript {
    /// The script of Google.
    ///
    /// Clients send a client secret, although the secret of an installed app is not confidential. Only an
    /// authorization request with `access_type=offline` gets a refresh token. The response to a refresh contains
    /// no refresh token. The verification URI is in `verification_url`.
    static var google: ServerScript {
        var script = ServerScript()
        script.paths = [
            .authorization: "/o/oauth2/v2/auth", .token: "/token", .userInfo: "/v1/userinfo", .keys: "/oauth2/v3/certs",
            .revocation: "/revoke", .deviceAuthorization: "/device/code", .api: "/drive/v3",
        ]
        script.metadata.forms = [.openID, .openIDAppended]
        script.metadata.absent = [.serverInfo, .resourceMetadata, .pushedAuthorization, .registration, .endSession]
        script.metadata.omitted = ["dpop_signing_alg_values_supported"]
        script.metadata.replaced = [WireMember("code_challenge_methods_supported", ["plain", "S256"])]
        script.clients.authentication = .post
        script.clients.redirects = .beginning(with: ["http://127.0.0.1:", "http://[::1]:", "http://localhost:"])
        script.authorization.requiresPKCE = false
        script.refreshTokens.issue = .withOfflineAccessType
        script.refreshTokens.rotation = .never
        script.keys.algorithm = .rs256
        script.device.verificationMember = "verification_url"
        script.device.hasCompleteAddress = false
        script.dpop.isIgnored = true
        script.api.resource = "{origin}/drive/v3"
        return script
    }

    /// The script of Microsoft Entra for one tenant.
    ///
    /// The metadata do not announce PKCE. All registered redirect URIs are on `localhost`, where any port is accepted.
    static var microsoft: ServerScript {
        var script = ServerScript()
        script.issuerPath = "/\(microsoftTenant)/v2.0"
        script.paths = [
            .authorization: "/oauth2/v2.0/authorize", .token: "/oauth2/v2.0/token", .keys: "/discovery/v2.0/keys",
            .deviceAuthorization: "/oauth2/v2.0/devicecode", .endSession: "/oauth2/v2.0/logout",
            .userInfo: "/oidc/userinfo", .api: "/v1.0",
        ]
        script.metadata.forms = [.openIDAppended]
        script.metadata.absent = [.serverInfo, .resourceMetadata, .pushedAuthorization, .registration, .revocation]
        script.metadata.omitted = [
            "code_challenge_methods_supported", "authorization_response_iss_parameter_supported",
            "dpop_signing_alg_values_supported",
        ]
        script.clients.redirects = .anyPort(
            ["http://localhost", "http://localhost/", "http://localhost/callback"], hosts: ["localhost"])
        script.authorization.requiresPKCE = false
        script.idToken.replaced = [WireMember("tid", .text(microsoftTenant))]
        script.refreshTokens.issue = .withScope(["offline_access"])
        script.refreshTokens.rotation = .rotated(.answersAgain)
        script.keys.algorithm = .rs256
        script.device.hasCompleteAddress = false
        script.dpop.isIgnored = true
        script.api.resource = "{origin}/v1.0"
        return script
    }

    /// The script of Microsoft Entra for all tenants.
    ///
    /// The published issuer contains `{tenantid}`. `iss` of an ID token contains the tenant of the user instead.
    public static var microsoftForEveryTenant: ServerScript {
        var script = microsoft
        script.issuerPath = "/common/v2.0"
        script.issuer = "{origin}/{tenantid}/v2.0"
        script.idToken.replaced.append(WireMember("iss", .text("{origin}/\(microsoftTenant)/v2.0")))
        return script
    }

    private static let microsoftTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// The script of a custom authorization server of Okta.
    ///
    /// The ports of redirect URIs are fixed. Refresh tokens are rotated, and a retry with the old one succeeds.
    static var okta: ServerScript {
        var script = ServerScript()
        script.issuerPath = "/oauth2/default"
        script.issuer = "{origin}{path}"
        script.paths = [
            .authorization: "/v1/authorize", .token: "/v1/token", .userInfo: "/v1/userinfo", .keys: "/v1/keys",
            .revocation: "/v1/revoke", .deviceAuthorization: "/v1/device/authorize", .pushedAuthorization: "/v1/par",
            .endSession: "/v1/logout", .api: "/photos",
        ]
        script.metadata.absent = [.serverInfo, .resourceMetadata, .registration]
        script.clients.redirects = .exactly(exactRedirectURIs)
        script.refreshTokens.issue = .withScope(["offline_access"])
        script.refreshTokens.rotation = .rotated(.answersAgain)
        script.keys.algorithm = .rs256
        script.api.resource = "{origin}/oauth2/default/photos"
        return script
    }

    /// The script of Auth0.
    ///
    /// The issuer has a trailing slash, and the ports of redirect URIs are fixed. Reuse of a rotated
    /// refresh token revokes the grant. `slow_down` has status 429.
    static var auth0: ServerScript {
        var script = ServerScript()
        script.issuer = "{origin}/"
        script.paths = [
            .authorization: "/authorize", .token: "/oauth/token", .userInfo: "/userinfo",
            .keys: "/.well-known/jwks.json", .revocation: "/oauth/revoke", .deviceAuthorization: "/oauth/device/code",
            .registration: "/oidc/register", .endSession: "/oidc/logout", .verification: "/activate", .api: "/api/v2",
        ]
        script.metadata.absent = [.serverInfo, .resourceMetadata, .pushedAuthorization]
        script.metadata.omitted = ["authorization_response_iss_parameter_supported"]
        script.clients.redirects = .exactly(exactRedirectURIs)
        script.refreshTokens.issue = .withScope(["offline_access"])
        script.refreshTokens.rotation = .rotated(.revokesAll)
        script.keys.algorithm = .rs256
        script.device.polls = [.pending, .slowDownAsTooManyRequests]
        script.api.resource = "{origin}/api/v2"
        return script
    }

    /// The redirect URIs of the test client at vendors that compare redirect URIs exactly, with the port.
    private static let exactRedirectURIs =
        ["127.0.0.1", "localhost"].flatMap { host in
            [8080, 18080, 28080].map { "http://\(host):\($0)/callback" }
        } + ["com.example.app:/callback"]
}
