extension ServerProfile {
    /// Microsoft Entra ID: the host is `login.microsoftonline.com`, and the tenant is part of the issuer.
    public static let microsoft: ServerProfile = {
        var redirect = Redirect(loopback: "http://localhost")
        redirect.takesCustomScheme = true
        var profile = ServerProfile(
            name: "microsoft", title: "Microsoft Entra ID",
            location: .issuer("https://login.microsoftonline.com/{host}/v2.0"), redirect: redirect)
        profile.defaultScope = "openid profile offline_access"
        profile.assumesPKCE = true
        profile.advice = [
            "Name your tenant, by its domain or its identifier; a sign-in for every tenant at once is not supported.",
            "Register http://localhost under Mobile and desktop applications; the port is then free, and [::1] is not taken.",
            "When access is denied, the page of Microsoft does not come back to the application.",
        ]
        return profile
    }()
}
