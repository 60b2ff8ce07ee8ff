/// A vendor whose authorization server a script can simulate.
///
/// The scripts follow the documentation of the vendors.
public enum ScriptedVendor: String, Sendable, Hashable, Codable, CaseIterable {
    /// FotoWare with its server FotoWeb, which publishes no metadata and rejects client secrets.
    case fotoWare = "fotoware"
    /// Bentley iTwin with its authorization server IMS, which requires PKCE with S256.
    case iTwin = "itwin"
    /// Zoho's first data centre; ``ServerScript/zohoSecondDataCentre`` is the second one.
    case zoho
    /// Google, whose metadata announce PKCE but whose clients need not use it.
    case google
    /// Microsoft Entra for one tenant; ``ServerScript/microsoftForEveryTenant`` is for all tenants.
    case microsoft
    /// GitHub, which issues no refresh tokens.
    case gitHub = "github"
    /// Okta, with a custom authorization server.
    case okta
    /// Auth0, which responds to reuse of a refresh token by revoking the grant.
    case auth0
    /// Slack, which nests user tokens in `authed_user`.
    case slack
}

extension ServerScript {
    /// Returns the script of a vendor's server, with the vendor's paths.
    public static func vendor(_ vendor: ScriptedVendor) -> ServerScript {
        switch vendor {
        case .fotoWare: fotoWare
        case .iTwin: iTwin
        case .zoho: zoho
        case .google: google
        case .microsoft: microsoft
        case .gitHub: gitHub
        case .okta: okta
        case .auth0: auth0
        case .slack: slack
        }
    }

    /// Returns the script of an OAuth server without OpenID Connect and DPoP.
    ///
    /// The server has an authorization endpoint, a token endpoint, an API, and the given endpoints.
    static func plainOAuth(having endpoints: Set<ScriptedEndpoint>) -> ServerScript {
        var script = ServerScript()
        script.metadata.absent = Set(ScriptedEndpoint.allCases).subtracting(endpoints)
            .subtracting([.authorization, .token, .api, .metadata, .unknown])
        script.idToken.isIssued = false
        script.authorization.issuer = .omitted
        script.metadata.omitted = ["authorization_response_iss_parameter_supported"]
        script.dpop.isIgnored = true
        return script
    }
}
