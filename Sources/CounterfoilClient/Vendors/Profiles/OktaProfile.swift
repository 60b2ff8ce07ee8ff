extension ServerProfile {
    /// Okta: a host for each customer; the server compares redirect URIs including the port.
    public static let okta: ServerProfile = {
        var redirect = Redirect(loopback: "http://localhost/callback")
        redirect.ports = [8080, 18080, 28080]
        var profile = ServerProfile(
            name: "okta", title: "Okta", location: .issuer("https://{host}"), redirect: redirect)
        profile.defaultScope = "openid profile offline_access"
        profile.behavior.requiresConsentForOfflineAccess = false
        profile.advice = [
            "Register a native application, and each redirect URI with its port."
        ]
        return profile
    }()
}
