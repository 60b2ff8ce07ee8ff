/// The script of Canaille.
extension ServerScript {
    /// The script of Canaille 0.3.
    ///
    /// - A request with `prompt=none` gets a page with status 500.
    /// - Redirect URIs are compared with their port, so the client has the port 18080 registered.
    /// - Both standards' metadata are published, and clients can register themselves.
    static var canaille: ServerScript {
        var script = openIDProvider()
        script.paths = [
            .authorization: "/oauth/authorize", .token: "/oauth/token", .userInfo: "/oauth/userinfo",
            .keys: "/oauth/jwks.json", .revocation: "/oauth/revoke", .endSession: "/oauth/end_session",
            .registration: "/oauth/register", .registrationManagement: "/oauth/register/client",
        ]
        script.metadata.forms = [.oauth, .openID, .openIDAppended]
        script.metadata.absent = [
            .serverInfo, .resourceMetadata, .pushedAuthorization, .deviceAuthorization, .verification,
        ]
        script.authorization.silentResponse = .page(500)
        script.clients.redirects = .exactly(["http://127.0.0.1:18080/callback"])
        script.registration.isManageable = true
        return script
    }
}
