import CounterfoilTokens

/// Scripts of identity providers.
extension ServerScript {
    /// Google: a client secret that is not confidential, `access_type=offline`, no refresh token in refresh
    /// responses, and `verification_url`.
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

    /// Microsoft Entra for one tenant: no PKCE in the metadata, and redirects to any port of `localhost`
    /// only.
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

    /// Microsoft Entra for all tenants: the issuer contains `{tenantid}`, and ID tokens contain the user's
    /// own tenant.
    public static var microsoftForEveryTenant: ServerScript {
        var script = microsoft
        script.issuerPath = "/common/v2.0"
        script.issuer = "{origin}/{tenantid}/v2.0"
        script.idToken.replaced.append(WireMember("iss", .text("{origin}/\(microsoftTenant)/v2.0")))
        return script
    }

    private static let microsoftTenant = "9188040d-6c67-4c5b-b112-36a304b66dad"

    /// Okta: a custom authorization server, fixed ports, and rotation in which a used refresh token can be
    /// retried.
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
        script.clients.redirects = .exactly(registeredPorts)
        script.refreshTokens.issue = .withScope(["offline_access"])
        script.refreshTokens.rotation = .rotated(.answersAgain)
        script.keys.algorithm = .rs256
        script.api.resource = "{origin}/oauth2/default/photos"
        return script
    }

    /// Auth0: an issuer with a trailing slash, fixed ports, rotation that revokes on reuse, and `slow_down`
    /// with status 429.
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
        script.clients.redirects = .exactly(registeredPorts)
        script.refreshTokens.issue = .withScope(["offline_access"])
        script.refreshTokens.rotation = .rotated(.revokesAll)
        script.keys.algorithm = .rs256
        script.device.polls = [.pending, .slowDownAsTooManyRequests]
        script.api.resource = "{origin}/api/v2"
        return script
    }

    /// The redirect URIs that a client registers if the port must match.
    private static let registeredPorts =
        ["127.0.0.1", "localhost"].flatMap { host in
            [8080, 18080, 28080].map { "http://\(host):\($0)/callback" }
        } + ["com.example.app:/callback"]
}
