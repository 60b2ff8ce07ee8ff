extension ServerProfile {
    /// Bentley iTwin: one server for production and one for quality assurance.
    public static let itwin: ServerProfile = {
        var redirect = Redirect(loopback: "http://localhost/signin-callback")
        // Bentley compares redirect URIs including the port, so the redirect URI must be registered with each port.
        redirect.ports = [31234, 41234, 51234]
        var profile = ServerProfile(
            name: "itwin", title: "Bentley iTwin", location: .issuer("https://{host}"), redirect: redirect)
        profile.defaultHost = "ims.bentley.com"
        profile.hosts = ["production": "ims.bentley.com", "qa": "qa-ims.bentley.com"]
        profile.defaultScope = "itwin-platform offline_access"
        profile.behavior.earlyRefresh = 600
        profile.advice = [
            "Register a desktop or mobile application with http://localhost and each port, for example 31234, 41234 and 51234.",
            "Use the client ID of a desktop application (native-…); that of a single-page application (spa-…) is rejected.",
        ]
        return profile
    }()
}
