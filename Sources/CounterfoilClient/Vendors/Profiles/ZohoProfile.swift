extension ServerProfile {
    /// Zoho: a data center for each region.
    ///
    /// The authorization response names the data center of the user in the parameter `accounts-server`.
    public static let zoho: ServerProfile = {
        let centres = [
            "us": "accounts.zoho.com", "eu": "accounts.zoho.eu", "in": "accounts.zoho.in", "au": "accounts.zoho.com.au",
            "jp": "accounts.zoho.jp", "ca": "accounts.zohocloud.ca", "sa": "accounts.zoho.sa", "uk": "accounts.zoho.uk",
            "cn": "accounts.zoho.com.cn",
        ]
        var addresses = Addresses(
            issuer: "https://{host}",
            authorization: "https://{host}/oauth/v2/auth",
            token: "https://{host}/oauth/v2/token")
        addresses.revocation = "https://{host}/oauth/v2/token/revoke"
        var redirect = Redirect(loopback: "http://127.0.0.1/callback")
        redirect.takesCustomScheme = false
        var profile = ServerProfile(
            name: "zoho", title: "Zoho", location: .addresses(addresses), redirect: redirect)
        profile.defaultHost = centres["us"]
        profile.hosts = centres
        // Zoho requires the client secret even from an installed app, in which it is not confidential.
        profile.authentication = .secretPost
        profile.assumesPKCE = true
        var behavior = ServerBehavior()
        behavior.scopeSeparator = ","
        behavior.authorizationParameters = ["access_type": "offline"]
        // Zoho returns a refresh token only at the first consent, so a client without one requests `prompt=consent`.
        // Sent with every sign-in, `prompt=consent` would revoke the refresh tokens of the user's other devices.
        behavior.parametersForRefreshToken = ["prompt": "consent"]
        behavior.tokenResponse.secondsMember = "expires_in_sec"
        behavior.tokenResponse.scopeSeparator = ","
        behavior.tokenResponse.details = ["api_domain"]
        behavior.errors.meanings = [
            "invalid_code": "invalid_grant", "invalid_client_secret": "invalid_client", "other_dc": "invalid_grant",
        ]
        behavior.errors.otherServer = ServerBehavior.OtherServer(
            word: "other_dc", member: "user_location", origins: centres.mapValues { "https://\($0)" })
        behavior.errors.transient = ["Access Denied"]
        behavior.errors.pause = 60
        behavior.callbackServer = ServerBehavior.CallbackServer(
            parameter: "accounts-server", origins: Set(centres.values.map { "https://\($0)" }))
        behavior.authorizationScheme = "Zoho-oauthtoken"
        profile.behavior = behavior
        profile.advice = [
            "Even a native app has a secret at Zoho; pass it with --client-secret-file.",
            "To support users of every region, enable Multi-DC for the client.",
        ]
        return profile
    }()
}
