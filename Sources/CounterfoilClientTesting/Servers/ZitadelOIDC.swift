/// The script of the provider of zitadel/oidc.
extension ServerScript {
    /// The script of the provider of zitadel/oidc 3.
    ///
    /// - The issuer ends with a slash.
    /// - Responses allow every origin to read them with cookies.
    /// - A poll of the device grant fails with `server_error` and status 500 if the user has not approved it.
    static var zitadelOIDC: ServerScript {
        var script = openIDProvider()
        script.issuer = "{origin}/"
        script.paths = [
            .authorization: "/authorize", .token: "/oauth/token", .userInfo: "/userinfo", .keys: "/keys",
            .revocation: "/revoke", .endSession: "/end_session", .deviceAuthorization: "/device_authorization",
        ]
        script.metadata.absent = [
            .serverInfo, .resourceMetadata, .pushedAuthorization, .registration, .registrationManagement,
        ]
        script.metadata.replaced = []
        script.allowsEveryOrigin = true
        script.device.polls = [.answer(.refusal("server_error", "no approval", status: 500))]
        return script
    }
}
