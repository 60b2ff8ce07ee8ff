/// The script of Keycloak.
extension ServerScript {
    /// The script of Keycloak 26.
    ///
    /// - The issuer has a path, and the metadata are at OpenID's URL only.
    /// - An unknown client or redirect URI gets an error page with status 400.
    /// - A token request with a foreign `Origin` fails, and other responses allow every origin to read them with
    ///   cookies.
    /// - Pushed requests, DPoP, `iss` and the device grant are supported.
    /// - A registration with the scope `openid` fails.
    static var keycloak: ServerScript {
        var script = openIDProvider()
        script.issuerPath = "/realms/photos"
        let path = "/protocol/openid-connect"
        script.paths = [
            .authorization: "\(path)/auth", .token: "\(path)/token", .userInfo: "\(path)/userinfo",
            .keys: "\(path)/certs", .revocation: "\(path)/revoke", .endSession: "\(path)/logout",
            .deviceAuthorization: "\(path)/auth/device", .verification: "/device",
            .pushedAuthorization: "\(path)/ext/par/request", .registration: "/clients-registrations/openid-connect",
            .registrationManagement: "/clients-registrations/openid-connect/client",
        ]
        script.metadata.forms = [.openIDAppended]
        script.metadata.absent = [.serverInfo, .resourceMetadata]
        script.sendIssuer()
        script.supportDPoP()
        script.allowsEveryOrigin = true
        script.clients.refusalOfForeignOrigins = "not_allowed"
        script.refreshTokens.rotation = .repeated
        script.registration.refusedScopes = ["openid"]
        script.registration.isManageable = true
        return script
    }
}
