extension ServerProfile {
    /// Slack, for user tokens: the response contains them in `authed_user`, and `user_scope` requests their scopes.
    public static let slack: ServerProfile = {
        let addresses = Addresses(
            issuer: "https://{host}",
            authorization: "https://{host}/oauth/v2/authorize",
            token: "https://{host}/api/oauth.v2.access")
        var profile = ServerProfile(
            name: "slack", title: "Slack", location: .addresses(addresses),
            redirect: Redirect(loopback: "http://localhost/callback"))
        profile.defaultHost = "slack.com"
        profile.assumesPKCE = true
        var behavior = ServerBehavior()
        behavior.scopeParameter = "user_scope"
        behavior.scopeSeparator = ","
        behavior.tokenResponse.path = ["authed_user"]
        behavior.tokenResponse.successMember = "ok"
        behavior.tokenResponse.scopeSeparator = ","
        behavior.tokenResponse.extraTokenTypes = ["user"]
        behavior.errors.meanings = [
            "invalid_code": "invalid_grant", "invalid_refresh_token": "invalid_grant",
            "code_already_used": "invalid_grant", "invalid_client_id": "invalid_client",
            "bad_client_secret": "invalid_client", "bad_redirect_uri": "invalid_grant",
        ]
        behavior.errors.transient = ["ratelimited"]
        profile.behavior = behavior
        profile.advice = ["Enable PKCE for the app; this makes it a public client permanently."]
        return profile
    }()
}
