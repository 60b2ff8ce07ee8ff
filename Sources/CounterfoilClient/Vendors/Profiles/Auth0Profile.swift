extension ServerProfile {
    /// Auth0: a host for each customer, and an issuer that ends with a slash.
    public static let auth0: ServerProfile = {
        var redirect = Redirect(loopback: "http://127.0.0.1/callback")
        redirect.ports = [8080, 18080, 28080]
        var profile = ServerProfile(
            name: "auth0", title: "Auth0", location: .issuer("https://{host}/"), redirect: redirect)
        profile.defaultScope = "openid profile offline_access"
        profile.advice = [
            "Register it as a native application, and each callback URL with its port.",
            "Allow an overlap for rotated refresh tokens (its leeway), or an answer lost on the way signs the person out.",
        ]
        return profile
    }()
}
