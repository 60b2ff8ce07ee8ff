extension ServerProfile {
    /// Microsoft Entra ID, always at `login.microsoftonline.com`; the tenant replaces `{host}` in the issuer.
    public static let microsoft: ServerProfile = {
        var redirect = Redirect(loopback: "http://localhost")
        redirect.takesCustomScheme = true
        var profile = ServerProfile(
            name: "microsoft", title: "Microsoft Entra ID",
            location: .issuer("https://login.microsoftonline.com/{host}/v2.0"), redirect: redirect)
        profile.defaultScope = "openid profile offline_access"
        profile.assumesPKCE = true
        profile.behavior.requiresConsentForOfflineAccess = false
        profile.advice = [
            "Name your tenant by its domain or its ID; a sign-in for all tenants is not supported.",
            "Register http://localhost under Mobile and desktop applications; any port is then accepted, but not [::1].",
            "If access is denied, the page of Microsoft does not redirect back to the app.",
        ]
        return profile
    }()
}
