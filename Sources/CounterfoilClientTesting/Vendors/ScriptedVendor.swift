/// A vendor whose authorization server can be simulated, according to the vendor's documentation.
public enum ScriptedVendor: String, Sendable, Hashable, Codable, CaseIterable {
    /// FotoWare (FotoWeb).
    case fotoWare = "fotoware"
    /// Bentley iTwin (IMS).
    case iTwin = "itwin"
    /// Zoho; its second data centre is ``ServerScript/zohoSecondDataCentre``.
    case zoho
    /// Google.
    case google
    /// Microsoft Entra.
    case microsoft
    /// GitHub.
    case gitHub = "github"
    /// Okta.
    case okta
    /// Auth0.
    case auth0
    /// Slack.
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

    /// Returns an OAuth server without OpenID Connect and with few endpoints.
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
