import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens

// Keys: https://docs.spring.io/spring-boot/reference/security/oauth2.html (spring.security.oauth2.client).
extension ConfigurationRecipe {
    static let spring = ConfigurationRecipe(
        "spring", "Spring Boot (OAuth2 client)", file: "src/main/resources/application.yml", for: [.web]
    ) { connection -> ConfigurationText<SpringYAML>? in
        guard connection.keys == nil, ![.ed25519, .edDSA].contains(connection.idTokenAlgorithm),
            let redirectURI = connection.redirectURI(preferring: { $0.route.hasPrefix(springRoute) })
        else { return nil }
        return ConfigurationText(lines: [
            connection.algorithmNote, connection.proofKeyNote,
            redirectURI.route.hasPrefix(springRoute)
                ? nil
                : """
                # Spring receives the response at /login/oauth2/code/*, unless the SecurityFilterChain has:
                #   .oauth2Login(login -> login.redirectionEndpoint(endpoint -> endpoint.baseUri(\(redirectURI.route))))
                """,
            """
            spring:
              security:
                oauth2:
                  client:
                    registration:
                      counterfoil:
                        client-id: \(connection.clientID.rawValue)
                        client-secret: "${CLIENT_SECRET}"
                        client-authentication-method: client_secret_basic
                        authorization-grant-type: authorization_code
                        redirect-uri: \(redirectURI.rawValue)
                        scope: [\(connection.scope.tokens.map(\.rawValue))]
                    provider:
                      counterfoil:
                        issuer-uri: \(connection.issuer.rawValue)

            """,
        ])
    }

    static let springService = ConfigurationRecipe(
        "spring", "Spring Boot (OAuth2 client)", file: "src/main/resources/application.yml", for: [.service]
    ) { connection -> ConfigurationText<SpringYAML>? in
        guard connection.keys == nil else { return nil }
        return """
            spring:
              security:
                oauth2:
                  client:
                    registration:
                      counterfoil:
                        client-id: \(connection.clientID.rawValue)
                        client-secret: "${CLIENT_SECRET}"
                        client-authentication-method: client_secret_basic
                        authorization-grant-type: client_credentials
                        scope: [\(connection.scope.tokens.map(\.rawValue))]
                    provider:
                      counterfoil:
                        issuer-uri: \(connection.issuer.rawValue)

            """
    }

    /// The path at which Spring Security receives authorization responses by default.
    private static let springRoute = "/login/oauth2/code/"
}

extension ClientConnection {
    /// Spring Security expects ID tokens with RS256 unless a bean names another algorithm.
    fileprivate var algorithmNote: ConfigurationText<SpringYAML>? {
        guard usesOpenID, idTokenAlgorithm != .rs256 else { return nil }
        return """
            # The ID tokens of this client are signed with \(idTokenAlgorithm.rawValue). Declare a bean:
            #   OidcIdTokenDecoderFactory factory = new OidcIdTokenDecoderFactory();
            #   factory.setJwsAlgorithmResolver(registration -> SignatureAlgorithm.from(\(idTokenAlgorithm.rawValue)));
            """
    }

    /// Spring Security sends PKCE for confidential clients by default since version 7.0.
    fileprivate var proofKeyNote: ConfigurationText<SpringYAML>? {
        guard case .s256 = pkce else { return nil }
        return """
            # This client must use PKCE. Before Spring Security 7.0, set in the SecurityFilterChain:
            #   DefaultOAuth2AuthorizationRequestResolver.setAuthorizationRequestCustomizer(
            #       OAuth2AuthorizationRequestCustomizers.withPkce())
            """
    }
}
