import CounterfoilTokens

/// Scripts of products for photo libraries, construction and offices that allow apps of third parties.
extension ServerScript {
    /// FotoWeb: no metadata, lower-case `bearer`, a native client that must not send a secret, and rotation
    /// without retries.
    static var fotoWare: ServerScript {
        var script = plainOAuth(having: [])
        script.metadata.forms = []
        script.paths = [
            .authorization: "/fotoweb/oauth2/authorize", .token: "/fotoweb/oauth2/token", .api: "/fotoweb/me",
        ]
        script.clients.authentication = .noSecretAllowed
        script.tokens.tokenType = "bearer"
        script.tokens.scope = .absent
        script.tokens.lifetime = 900
        script.refreshTokens.rotation = .rotated(.isRefused)
        script.api.resource = "{origin}/fotoweb"
        script.api.challenges = ["Bearer"]
        return script
    }

    /// IMS: OpenID metadata, S256 only, fixed ports, and `offline_access` for a refresh token.
    ///
    /// Token responses have no `scope`, and the errors of the API are objects.
    static var iTwin: ServerScript {
        var script = ServerScript()
        script.paths = [
            .authorization: "/connect/authorize", .token: "/connect/token", .userInfo: "/connect/userinfo",
            .revocation: "/connect/revocation", .endSession: "/connect/endsession",
            .keys: "/.well-known/openid-configuration/jwks", .api: "/itwins",
        ]
        script.metadata.forms = [.openID, .openIDAppended]
        script.metadata.absent = [
            .serverInfo, .resourceMetadata, .pushedAuthorization, .deviceAuthorization, .registration, .verification,
        ]
        script.metadata.omitted = [
            "authorization_response_iss_parameter_supported", "dpop_signing_alg_values_supported",
        ]
        script.clients.redirects = .exactly([
            "http://localhost:3000/signin-callback", "http://localhost:31234/signin-callback",
            "http://localhost:41234/signin-callback", "http://localhost:51234/signin-callback",
        ])
        script.tokens.scope = .absent
        script.refreshTokens.issue = .withScope(["offline_access"])
        script.refreshTokens.rotation = .rotated(.isRefused)
        script.keys.algorithm = .rs256
        script.errors.isNestedAtAPI = true
        script.dpop.isIgnored = true
        script.api.resource = "{origin}/itwins"
        script.api.challenges = ["Bearer"]
        return script
    }

    /// Zoho's first data centre: a client secret that is not confidential, `access_type=offline`, and no
    /// rotation.
    ///
    /// Error responses have status 200 and own codes, and authorization responses have `location` and
    /// `accounts-server`. Token responses have `expires_in` in milliseconds, `api_domain`, and commas
    /// between scopes.
    static var zoho: ServerScript {
        var script = plainOAuth(having: [.revocation, .deviceAuthorization, .verification, .serverInfo])
        script.metadata.forms = []
        script.paths = [
            .authorization: "/oauth/v2/auth", .token: "/oauth/v2/token", .revocation: "/oauth/v2/token/revoke",
            .deviceAuthorization: "/oauth/v3/device/code", .serverInfo: "/oauth/serverinfo", .api: "/crm/v8",
        ]
        script.clients.authentication = .post
        script.authorization.requiresPKCE = false
        script.authorization.extras = [WireMember("location", "us"), WireMember("accounts-server", "{origin}")]
        script.authorization.trailing = "&"
        script.tokens.expiresIn = .milliseconds
        script.tokens.scopeSeparator = ","
        script.tokens.extras = [WireMember("api_domain", "{origin}")]
        script.refreshTokens.issue = .withOfflineAccessType
        script.refreshTokens.rotation = .never
        script.errors.statusIsAlways200 = true
        script.errors.codes = ["invalid_grant": "invalid_code"]
        script.device.verificationMember = "verification_url"
        script.revocation.answer = "{\"status\":\"success\"}"
        script.revocation.refusesUnknownTokens = true
        script.revocation.readsQuery = true
        script.api.resource = "{origin}/crm/v8"
        script.api.schemes = ["Zoho-oauthtoken", "Bearer"]
        script.api.challenges = []
        script.api.refusal = "{\"code\":\"INVALID_TOKEN\",\"message\":\"invalid oauth token\",\"status\":\"error\"}"
        return script
    }

    /// Zoho's first data centre for a user whose account is in the second one, which alone accepts the code
    /// and the device code.
    public static var zohoForSomebodyElsewhere: ServerScript {
        var script = zoho
        script.authorization.codesBelongToSibling = true
        script.authorization.extras = [WireMember("location", "eu"), WireMember("accounts-server", "{sibling}")]
        script.device.polls = [.otherDataCentre("eu")]
        return script
    }

    /// Zoho's second data centre.
    public static var zohoSecondDataCentre: ServerScript {
        var script = zoho
        script.authorization.extras = [WireMember("location", "eu"), WireMember("accounts-server", "{origin}")]
        return script
    }

    /// Returns Zoho's response to throttled requests: an own error code with status 200 or 400.
    public static func zohoThrottle(status: Int = 200) -> ScriptedAnswer {
        .json(
            "{\"error\":\"Access Denied\",\"error_description\":\"You have made too many requests continuously. "
                + "Please try again after some time.\",\"status\":\"failure\"}", status: status)
    }
}
