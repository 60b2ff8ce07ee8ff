import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// What the page on connecting an application says.
package enum ConnectPhrase: String, Phrase {
    /// The issuer.
    case issuer = "connect.issuer"
    /// The client identifier.
    case clientID = "connect.client-id"
    /// A redirect URI.
    case redirectURI = "connect.redirect-uri"
    /// The scopes.
    case scope = "connect.scope"
    /// The address of the metadata.
    case metadata = "connect.metadata"
    /// The authorization endpoint.
    case authorizationEndpoint = "connect.authorization-endpoint"
    /// The token endpoint.
    case tokenEndpoint = "connect.token-endpoint"
    /// The UserInfo endpoint.
    case userInfoEndpoint = "connect.user-info-endpoint"
    /// The endpoint that signs out.
    case endSessionEndpoint = "connect.end-session-endpoint"
    /// An address for after signing out.
    case postLogoutRedirectURI = "connect.post-logout-redirect-uri"
}

extension ConnectPage {
    init(_ client: RegisteredClient, console: Console, visit: Console.Visit) {
        let issuer = console.settings.issuer
        let words = visit.words
        var values = [
            Value(words(ConnectPhrase.issuer), issuer.rawValue),
            Value(words(ConnectPhrase.clientID), client.id.rawValue),
        ]
        values += client.redirectURIs.map { Value(words(ConnectPhrase.redirectURI), $0.rawValue) }
        values += client.postLogoutRedirectURIs.map {
            Value(words(ConnectPhrase.postLogoutRedirectURI), $0.rawValue)
        }
        if !client.scope.isEmpty { values.append(Value(words(ConnectPhrase.scope), client.scope.description)) }
        values.append(Value(words(ConnectPhrase.metadata), issuer.metadataURLs.last ?? ""))
        if client.type.hasRedirectURIs {
            values.append(
                Value(words(ConnectPhrase.authorizationEndpoint), issuer.endpoint(Endpoint.authorization.path)))
        }
        values.append(Value(words(ConnectPhrase.tokenEndpoint), issuer.endpoint(Endpoint.token.path)))
        if client.type.hasRedirectURIs, client.scope.contains(.openID) {
            values.append(Value(words(ConnectPhrase.userInfoEndpoint), issuer.endpoint(Endpoint.userInfo.path)))
            values.append(Value(words(ConnectPhrase.endSessionEndpoint), issuer.endpoint(Endpoint.logout.path)))
        }
        self.init(
            console: console.head(visit, in: console.part(of: client, visit)),
            application: console.summary(client, visit),
            paths: console.paths(of: client, at: .connect, visit),
            values: values,
            command: client.loginCommand(issuer: issuer),
            callback: client.callbackToClaim(settings: console.settings)?.rawValue
        )
    }
}

extension RegisteredClient {
    /// The callback address that suits the application: the one at which the association files give it the most.
    fileprivate func callbackToClaim(settings: ServerSettings) -> CallbackAddress? {
        if let origin = settings.callbackOrigin, !policy.isFirstParty {
            return CallbackAddress(of: id, type: type, at: origin)
        }
        return CallbackAddress(of: id, type: type, issuer: settings.issuer)
    }
}

extension RegisteredClient {
    /// The command line that signs in with this application, an option in each line; nil when the command line cannot
    /// receive its answers.
    func loginCommand(issuer: Issuer) -> String? {
        guard type == .native,
            let uri = redirectURIs.first(where: { uri in if case .loopback = uri.kind { true } else { false } })
        else { return nil }
        var lines = [["counterfoil", "login", issuer.rawValue], ["--client-id", id.rawValue]]
        lines.append(["--redirect-uri", uri.rawValue])
        if !scope.isEmpty { lines.append(["--scope", scope.description]) }
        return lines.map { $0.map(\.quotedForShell).joined(separator: " ") }.joined(separator: " \\\n  ")
    }
}

extension String {
    /// The text as one word of a shell.
    fileprivate var quotedForShell: String {
        let plain = utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "/:._-".utf8.contains(byte)
        }
        return plain ? self : "'" + replacing("'", with: #"'\''"#) + "'"
    }
}
