extension ServerProfile {
    /// Auth0: a host for each customer, and an issuer that ends with a slash.
    public static let auth0: ServerProfile = {
        var redirect = Redirect(loopback: "http://127.0.0.1/callback")
        redirect.ports = [8080, 18080, 28080]
        var profile = ServerProfile(
            name: "auth0", title: "Auth0", location: .issuer("https://{host}/"), redirect: redirect)
        profile.defaultScope = "openid profile offline_access"
        profile.behavior.requiresConsentForOfflineAccess = false
        // With "Refresh Token Revocation Deletes Grant", which is the default, a revocation deletes the user's grant.
        profile.behavior.revokesAllTokensTogether = true
        profile.advice = [
            "Register a native application, and each callback URL with its port.",
            "Configure a leeway for rotated refresh tokens; otherwise a lost response signs the user out.",
        ]
        return profile
    }()
}
