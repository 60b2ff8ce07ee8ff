extension ServerProfile {
    /// FotoWare: a server for each customer, without metadata.
    ///
    /// The profile follows FotoWare's documentation of native and mobile applications. The documentation does not
    /// say whether a refresh returns a new refresh token, and the client supports both cases. If the server returns
    /// a new one, the old one is invalid at once.
    public static let fotoware: ServerProfile = {
        var addresses = Addresses(
            issuer: "https://{host}/fotoweb",
            authorization: "https://{host}/fotoweb/oauth2/authorize",
            token: "https://{host}/fotoweb/oauth2/token")
        addresses.userInfo = nil
        var profile = ServerProfile(
            name: "fotoware", title: "FotoWare", location: .addresses(addresses),
            redirect: Redirect(loopback: "http://127.0.0.1/callback"))
        profile.assumesPKCE = true
        profile.advice = [
            "Register a native application; it has no secret and must not send one.",
            "After a mistake in the registration, FotoWeb shows an error page and does not redirect back to the app.",
        ]
        return profile
    }()
}
