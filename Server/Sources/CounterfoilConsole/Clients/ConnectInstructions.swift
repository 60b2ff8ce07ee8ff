import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import CounterfoilTokens
import Foundation

/// The labels of the values that a client needs to use this server.
private enum ConnectLabel: String, LocalizationKey {
    case issuer = "connect.issuer"
    case clientID = "connect.client-id"
    case redirectURI = "connect.redirect-uri"
    case postLogoutRedirectURI = "connect.post-logout-redirect-uri"
    case origin = "connect.origin"
    case scope = "connect.scope"
    case clientAuthentication = "connect.client-authentication"
    case metadata = "connect.metadata"
    case oauthMetadata = "connect.oauth-metadata"
    case authorizationEndpoint = "connect.authorization-endpoint"
    case tokenEndpoint = "connect.token-endpoint"
    case userInfoEndpoint = "connect.user-info-endpoint"
    case keySet = "connect.key-set"
    case revocationEndpoint = "connect.revocation-endpoint"
    case introspectionEndpoint = "connect.introspection-endpoint"
    case endSessionEndpoint = "connect.end-session-endpoint"

    init(_ endpoint: ConnectionEndpoint) {
        self =
            switch endpoint {
            case .authorization: .authorizationEndpoint
            case .token: .tokenEndpoint
            case .userInfo: .userInfoEndpoint
            case .keySet: .keySet
            case .revocation: .revocationEndpoint
            case .introspection: .introspectionEndpoint
            case .endSession: .endSessionEndpoint
            }
    }
}

extension ConnectPage {
    init(_ client: RegisteredClient, apis: [RegisteredResource], console: Console, exchange: Console.Exchange) {
        let connection = ClientConnection(of: client, issuer: console.settings.issuer, apis: apis)
        let configurations = ReadyConfiguration.all(for: connection)
        let isCommand: (ReadyConfiguration) -> Bool = { $0.name == ReadyConfiguration.loginCommand }
        let paths = console.paths(of: client, at: .connect, exchange)
        self.init(
            console: console.head(exchange, of: client),
            client: console.summary(client, exchange),
            paths: paths,
            values: Self.values(connection, words: exchange.words),
            apis: connection.apis.map { api in
                API(name: DisplayName(api.name), resource: api.resource.rawValue, scope: api.scope.description)
            },
            needsResource: !connection.requestedResources.isEmpty,
            command: configurations.first(where: isCommand)?.text.trimmingCharacters(in: .newlines),
            configurations: configurations.filter { !isCommand($0) }.map {
                Configuration(
                    product: $0.product, file: $0.file, text: $0.text.trimmingCharacters(in: .newlines))
            },
            secretsPath: client.isConfidential && client.keys == nil ? paths.secrets : nil,
            callback: client.callbackToClaim(settings: console.settings)?.rawValue
        )
    }

    private static func values(_ connection: ClientConnection, words: Localizer) -> [Value] {
        func value(_ label: ConnectLabel, _ text: String) -> Value { Value(words(label), text) }
        var values = [
            value(.issuer, connection.issuer.rawValue), value(.clientID, connection.clientID.rawValue),
            value(.clientAuthentication, connection.authenticationMethods.joined(separator: ", ")),
        ]
        values += connection.redirectURIs.map { value(.redirectURI, $0.rawValue) }
        values += connection.postLogoutRedirectURIs.map { value(.postLogoutRedirectURI, $0.rawValue) }
        values += connection.origins.map { value(.origin, $0.rawValue) }
        if !connection.scope.isEmpty { values.append(value(.scope, connection.scope.description)) }
        if connection.type.hasRedirectURIs {
            values.append(Value(words(PolicyLabel.pkce), words(connection.pkce.text), isLiteral: false))
        }
        if connection.usesOpenID {
            values.append(Value(words(PolicyLabel.idTokenAlgorithm), connection.idTokenAlgorithm.rawValue))
            let answer = PolicyLabel(connection.putsUserClaimsInIDToken)
            values.append(Value(words(PolicyLabel.userClaimsInIDToken), words(answer), isLiteral: false))
        }
        values.append(value(.metadata, connection.openIDConfiguration))
        values.append(value(.oauthMetadata, connection.oauthMetadata))
        values += ConnectionEndpoint.allCases.compactMap { endpoint in
            connection.url(of: endpoint).map { value(ConnectLabel(endpoint), $0) }
        }
        return values
    }
}

extension RegisteredClient {
    /// Returns the https URL on this server that a native client can claim as its redirect URI (RFC 8252 §7.2); nil if
    /// the client cannot claim one.
    ///
    /// The URL is at the callback origin, a separate origin of this server. If the server has no callback origin, or
    /// the client is first-party, the URL is at the issuer.
    fileprivate func callbackToClaim(settings: ServerSettings) -> CallbackURL? {
        if let origin = settings.callbackOrigin, !policy.isFirstParty {
            return CallbackURL(of: id, type: type, at: origin)
        }
        return CallbackURL(of: id, type: type, issuer: settings.issuer)
    }
}
