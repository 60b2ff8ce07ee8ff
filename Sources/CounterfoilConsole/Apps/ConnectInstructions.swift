import CounterfoilProtocol
import CounterfoilServer
import Foundation

/// The labels of the values that a client needs to use this server.
private enum ConnectLabel: String, LocalizationKey {
    case issuer = "connect.issuer"
    case clientID = "connect.client-id"
    case redirectURI = "connect.redirect-uri"
    case scope = "connect.scope"
    case metadata = "connect.metadata"
    case authorizationEndpoint = "connect.authorization-endpoint"
    case tokenEndpoint = "connect.token-endpoint"
    case userInfoEndpoint = "connect.user-info-endpoint"
    case endSessionEndpoint = "connect.end-session-endpoint"
    case postLogoutRedirectURI = "connect.post-logout-redirect-uri"
}

extension ConnectPage {
    init(_ client: RegisteredClient, console: Console, visit: Console.Visit) {
        let issuer = console.settings.issuer
        let words = visit.words
        var values = [
            Value(words(ConnectLabel.issuer), issuer.rawValue),
            Value(words(ConnectLabel.clientID), client.id.rawValue),
        ]
        values += client.redirectURIs.map { Value(words(ConnectLabel.redirectURI), $0.rawValue) }
        values += client.postLogoutRedirectURIs.map {
            Value(words(ConnectLabel.postLogoutRedirectURI), $0.rawValue)
        }
        if !client.scope.isEmpty { values.append(Value(words(ConnectLabel.scope), client.scope.description)) }
        values.append(Value(words(ConnectLabel.metadata), issuer.metadataURLs.last ?? ""))
        if client.type.hasRedirectURIs {
            values.append(
                Value(words(ConnectLabel.authorizationEndpoint), issuer.endpoint(Endpoint.authorization.path)))
        }
        values.append(Value(words(ConnectLabel.tokenEndpoint), issuer.endpoint(Endpoint.token.path)))
        if client.type.hasRedirectURIs, client.scope.contains(.openID) {
            values.append(Value(words(ConnectLabel.userInfoEndpoint), issuer.endpoint(Endpoint.userInfo.path)))
            values.append(Value(words(ConnectLabel.endSessionEndpoint), issuer.endpoint(Endpoint.logout.path)))
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

extension RegisteredClient {
    /// Returns the `counterfoil login` command that signs in with this client, one option per line.
    ///
    /// The result is nil unless the client is native and has a loopback redirect URI.
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
    /// The text quoted as one word of a POSIX shell.
    fileprivate var quotedForShell: String {
        let plain = utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "/:._-".utf8.contains(byte)
        }
        return plain ? self : "'" + replacing("'", with: #"'\''"#) + "'"
    }
}
