import CounterfoilTokens

/// A server product or library whose default behaviour a script can simulate.
///
/// The scripts follow the documentation and the observed behaviour of the named versions, each with a client that is
/// registered as its documentation says: `lightbox`, with the loopback redirect URI `http://127.0.0.1/callback`. No
/// user is signed in, so a request with `prompt=none` gets an error.
public enum ScriptedProduct: String, Sendable, Hashable, Codable, CaseIterable {
    /// Keycloak 26, with the realm `photos`.
    case keycloak
    /// Ory Hydra 2.3.
    case hydra
    /// node-oidc-provider 9.
    case oidcProvider = "oidc-provider"
    /// Spring Authorization Server 1.5.
    case springAuthorizationServer = "spring-authorization-server"
    /// The provider of zitadel/oidc 3.
    case zitadelOIDC = "zitadel-oidc"
    /// better-auth 1.7 with its OAuth provider.
    case betterAuth = "better-auth"
    /// Canaille 0.3.
    case canaille
    /// oauth2-mock-server 8.
    case oauth2MockServer = "oauth2-mock-server"
}

extension ServerScript {
    /// Returns the script of a product, with its paths.
    public static func product(_ product: ScriptedProduct) -> ServerScript {
        switch product {
        case .keycloak: keycloak
        case .hydra: hydra
        case .oidcProvider: oidcProvider
        case .springAuthorizationServer: springAuthorizationServer
        case .zitadelOIDC: zitadelOIDC
        case .betterAuth: betterAuth
        case .canaille: canaille
        case .oauth2MockServer: oauth2MockServer
        }
    }

    /// Returns the script of an OpenID provider with one registered native client.
    ///
    /// The client may use any port of 127.0.0.1. The provider has no API, no DPoP and no pushed requests, and sends no
    /// `iss` in authorization responses.
    static func openIDProvider() -> ServerScript {
        var script = ServerScript()
        script.metadata.forms = [.openID, .openIDAppended]
        script.metadata.absent = [
            .serverInfo, .resourceMetadata, .pushedAuthorization, .deviceAuthorization, .registration, .verification,
            .registrationManagement,
        ]
        script.metadata.omitted = ["authorization_response_iss_parameter_supported"]
        script.metadata.replaced = [WireMember("code_challenge_methods_supported", ["S256", "plain"])]
        script.clients.known = ["lightbox"]
        script.clients.redirects = .anyPort(["http://127.0.0.1/callback"], hosts: ["127.0.0.1"])
        script.authorization.silentResponse = .error("login_required")
        script.authorization.requiresPKCE = false
        script.refreshTokens.issue = .withScope(["offline_access"])
        script.refreshTokens.rotation = .rotated(.revokesAll)
        script.keys.algorithm = .rs256
        script.dpop.isIgnored = true
        return script
    }

    /// Lets the provider announce and check DPoP proofs.
    mutating func supportDPoP() { dpop.isIgnored = false }

    /// Lets the provider announce and send `iss` in authorization responses (RFC 9207).
    mutating func sendIssuer() { metadata.omitted.removeAll { $0 == "authorization_response_iss_parameter_supported" } }
}
