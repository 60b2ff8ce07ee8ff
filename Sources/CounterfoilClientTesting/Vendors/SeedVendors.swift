import CounterfoilTokens

/// Scripts of vendors of photo archives, construction software and office software.
extension ServerScript {
    /// The script of FotoWeb.
    ///
    /// The server publishes no metadata. `token_type` is `bearer` in lower case, and a client must not send a secret.
    /// Refresh tokens are rotated, and a retry with the old one fails.
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

    /// The script of IMS, the authorization server of iTwin.
    ///
    /// The metadata are at the URLs of OpenID Connect. PKCE with S256 is required, and the ports of
    /// redirect URIs are fixed. Only a grant with the scope `offline_access` gets a refresh token. Token
    /// responses contain no `scope`, and `error` in responses of the API is an object.
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

    /// The script of Zoho's first data centre.
    ///
    /// Clients send a client secret, although the secret of an installed app is not confidential. Only an
    /// authorization request with `access_type=offline` gets a refresh token, which is not rotated. Error responses
    /// have status 200 and Zoho's own error codes. Authorization responses contain `location` and
    /// `accounts-server`. Token responses contain `expires_in` in milliseconds, `api_domain`, and scope values
    /// separated by commas.
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

    /// The script of Zoho's first data centre for a user whose account is in the second data centre.
    ///
    /// Only the server of the second data centre can redeem the authorization code or the device code.
    public static var zohoForUserElsewhere: ServerScript {
        var script = zoho
        script.authorization.codesBelongToSibling = true
        script.authorization.extras = [WireMember("location", "eu"), WireMember("accounts-server", "{sibling}")]
        script.device.polls = [.otherDataCentre("eu")]
        return script
    }

    /// The script of Zoho's second data centre, to run as the sibling of the first one.
    public static var zohoSecondDataCentre: ServerScript {
        var script = zoho
        script.authorization.extras = [WireMember("location", "eu"), WireMember("accounts-server", "{origin}")]
        return script
    }

    /// Returns Zoho's response to a throttled request: an error code of Zoho, with status 200 or 400.
    public static func zohoThrottle(status: Int = 200) -> ScriptedAnswer {
        .json(
            "{\"error\":\"Access Denied\",\"error_description\":\"You have made too many requests continuously. "
                + "Please try again after some time.\",\"status\":\"failure\"}", status: status)
    }
}
