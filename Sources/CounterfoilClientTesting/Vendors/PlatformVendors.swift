/// Scripts of platforms for developers and teams.
extension ServerScript {
    /// GitHub: no metadata, form-encoded responses unless JSON is accepted, and error responses with status
    /// 200 and own codes.
    ///
    /// Commas separate scopes. A code needs a client secret, a device code does not. There are no refresh
    /// tokens.
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

    /// Slack: `ok` in every response, error responses with status 200, user tokens in `authed_user`, and
    /// commas between scopes.
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
