extension ServerProfile {
    /// Google: a desktop client has a secret that is not confidential, and `access_type=offline` requests a refresh
    /// token.
    public static let google: ServerProfile = {
        var profile = ServerProfile(
            name: "google", title: "Google", location: .issuer("https://{host}"),
            redirect: Redirect(loopback: "http://127.0.0.1"))
        profile.defaultHost = "accounts.google.com"
        profile.authentication = .secretPost
        profile.defaultScope = "openid"
        profile.assumesPKCE = true
        profile.behavior.authorizationParameters = ["access_type": "offline"]
        profile.behavior.parametersForRefreshToken = ["prompt": "consent"]
        profile.behavior.revokesAllTokensTogether = true
        profile.advice = [
            "Create a client of the type Desktop app; its secret is required, but protects nothing.",
            "Clients of the types iOS, Android and Chrome cannot use loopback; use their reversed client ID as the scheme.",
        ]
        return profile
    }()
}
