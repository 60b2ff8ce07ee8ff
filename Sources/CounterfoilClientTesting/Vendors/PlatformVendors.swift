/// Scripts of platforms for developers and teams.
extension ServerScript {
    /// The script of GitHub.
    ///
    /// The server publishes no metadata and issues no refresh tokens. Token responses are form-encoded unless the
    /// client accepts JSON. Error responses have status 200 and GitHub's own error codes. Commas separate scope
    /// values. The client secret is required to redeem an authorization code, but not to redeem a device code.
    static var gitHub: ServerScript {
        var script = plainOAuth(having: [.deviceAuthorization, .verification])
        script.metadata.forms = []
        script.paths = [
            .authorization: "/login/oauth/authorize", .token: "/login/oauth/access_token",
            .deviceAuthorization: "/login/device/code", .verification: "/login/device", .api: "/user",
        ]
        script.clients.authentication = .post
        script.clients.grantTypesWithoutSecret = [ScriptedGrantType.deviceCode.rawValue]
        script.clients.redirects = .anyPort(["http://127.0.0.1/callback"], hosts: ["127.0.0.1"])
        script.authorization.requiresPKCE = false
        script.tokens.tokenType = "bearer"
        script.tokens.encoding = .formUnlessJSONIsAccepted
        script.tokens.scopeSeparator = ","
        script.tokens.expiresIn = .absent
        script.refreshTokens.issue = .never
        script.errors.statusIsAlways200 = true
        script.errors.codes = [
            "invalid_grant": "bad_verification_code", "invalid_client": "incorrect_client_credentials",
        ]
        script.device.hasCompleteAddress = false
        script.device.interval = 5
        script.device.polls = [.pending, .slowDownTo(10)]
        script.api.resource = "{origin}/user"
        script.api.challenges = []
        script.api.refusal = "{\"message\":\"Bad credentials\",\"status\":\"401\"}"
        return script
    }

    /// The script of Slack.
    ///
    /// Every token response contains `ok`, and error responses have status 200. The tokens are nested in
    /// `authed_user`. Commas separate scope values.
    static var slack: ServerScript {
        var script = plainOAuth(having: [.revocation])
        script.metadata.forms = []
        script.paths = [
            .authorization: "/oauth/v2/authorize", .token: "/api/oauth.v2.access", .revocation: "/api/auth.revoke",
            .api: "/api/users.identity",
        ]
        script.authorization.requiresPKCE = false
        script.authorization.scopeParameters = ["user_scope"]
        script.tokens.saysOK = true
        script.tokens.nesting = "authed_user"
        script.tokens.tokenType = "user"
        script.tokens.scopeSeparator = ","
        script.tokens.lifetime = 43_200
        script.refreshTokens.rotation = .rotated(.isRefused)
        script.errors.statusIsAlways200 = true
        script.errors.saysNotOK = true
        script.errors.codes = ["invalid_grant": "invalid_code", "invalid_client": "invalid_client_id"]
        script.revocation.answer = "{\"ok\":true,\"revoked\":true}"
        script.api.resource = "{origin}/api/users.identity"
        script.api.challenges = []
        script.api.refusal = "{\"ok\":false,\"error\":\"invalid_auth\"}"
        return script
    }
}
