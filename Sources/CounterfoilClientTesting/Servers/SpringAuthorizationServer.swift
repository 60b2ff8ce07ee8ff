/// The script of Spring Authorization Server.
extension ServerScript {
    /// The script of Spring Authorization Server 1.5, as Spring Boot configures it.
    ///
    /// - The document of RFC 8414 lacks `userinfo_endpoint` and `end_session_endpoint`, which OpenID's document has.
    /// - Pushed requests and the device grant are announced, but not enabled: their endpoints respond with status 401
    ///   and without an OAuth error.
    /// - A client that does not authenticate gets no refresh token.
    static var springAuthorizationServer: ServerScript {
        var script = openIDProvider()
        script.paths = [
            .authorization: "/oauth2/authorize", .token: "/oauth2/token", .userInfo: "/userinfo",
            .keys: "/oauth2/jwks", .revocation: "/oauth2/revoke", .endSession: "/connect/logout",
            .deviceAuthorization: "/oauth2/device_authorization", .pushedAuthorization: "/oauth2/par",
        ]
        script.metadata.forms = [.oauth, .openID, .openIDAppended]
        script.metadata.absent = [
            .serverInfo, .resourceMetadata, .registration, .registrationManagement, .verification,
        ]
        script.metadata.omittedAt = [.oauth: ["userinfo_endpoint", "end_session_endpoint"]]
        script.metadata.replaced = [
            WireMember(
                "token_endpoint_auth_methods_supported",
                ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"])
        ]
        script.supportDPoP()
        script.authorization.requiresPKCE = true
        script.refreshTokens.issue = .toAuthenticatedClients
        script.interruptions = [
            Interruption(at: .pushedAuthorization, .trouble(401)),
            Interruption(at: .deviceAuthorization, .trouble(401)),
        ]
        return script
    }
}
