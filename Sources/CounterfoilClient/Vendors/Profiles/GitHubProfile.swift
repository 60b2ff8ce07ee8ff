extension ServerProfile {
    /// GitHub: error responses have the status 200, and commas separate the scopes in token responses.
    public static let github: ServerProfile = {
        var addresses = Addresses(
            issuer: "https://{host}",
            authorization: "https://{host}/login/oauth/authorize",
            token: "https://{host}/login/oauth/access_token")
        addresses.deviceAuthorization = "https://{host}/login/device/code"
        var profile = ServerProfile(
            name: "github", title: "GitHub", location: .addresses(addresses),
            redirect: Redirect(loopback: "http://127.0.0.1/callback"))
        profile.defaultHost = "github.com"
        profile.authentication = .secretPost
        profile.assumesPKCE = true
        profile.behavior.tokenResponse.scopeSeparator = ","
        profile.behavior.errors.meanings = [
            "bad_verification_code": "invalid_grant", "incorrect_client_credentials": "invalid_client",
            "redirect_uri_mismatch": "invalid_grant", "bad_refresh_token": "invalid_grant",
        ]
        profile.advice = [
            "Register http://127.0.0.1/callback; any port is then accepted.",
            "Redeeming a code requires the client secret; signing in with --device does not.",
        ]
        return profile
    }()
}
