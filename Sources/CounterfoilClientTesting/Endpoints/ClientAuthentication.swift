import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// Client authentication with the method that the script requires.
extension MiniatureServer {
    /// Authenticates the client of a request, and returns its identifier; nil means `invalid_client`
    /// (RFC 6749 §2.3 and §5.2).
    func authenticatedClient(_ request: RecordedRequest, in vault: VaultContents) -> String? {
        let basic = Self.basicCredentials(request.authorization)
        guard let clientID = request.form["client_id"] ?? basic?.name, isKnown(clientID, in: vault) else { return nil }
        // RFC 6749 §2.3: a request uses one authentication method only.
        if basic != nil, request.form["client_secret"] != nil { return nil }
        let needsNoSecret = script.clients.grantTypesWithoutSecret.contains(request.form["grant_type"] ?? "")
        if let secret = vault.registrations[clientID] {
            return secret.isEmpty || [request.form["client_secret"], basic?.secret].contains(secret) ? clientID : nil
        }
        let isAuthenticated =
            switch script.clients.authentication {
            case .none: true
            case .noSecretAllowed: request.form["client_secret"] == nil && request.authorization == nil
            case .post: needsNoSecret || request.form["client_secret"] == script.clients.secret
            case .basic: needsNoSecret || basic?.secret == script.clients.secret
            case .privateKey: needsNoSecret || isAssertion(request.form["client_assertion"], of: clientID)
            }
        return isAuthenticated ? clientID : nil
    }

    /// Checks a client assertion (RFC 7523 §3), but not whether it was used before.
    private func isAssertion(_ text: String?, of clientID: String) -> Bool {
        guard let text, let claims = Self.claims(of: text), claims["iss"] == .text(clientID),
            claims["sub"] == .text(clientID), case .text(let audience)? = claims["aud"],
            script.clients.assertionAudiences.map(filled).contains(audience)
        else { return false }
        guard let keys = script.clients.keys else { return true }
        guard let set = try? JSONWebKeySet(parsing: Array(keys.utf8)), let client = ClientIdentifier(clientID) else {
            return false
        }
        let verifier = ClientAssertionVerifier(audiences: [audience])
        return (try? verifier.verify(text, of: client, keys: set, at: Date())) != nil
    }

    private static func claims(of token: String) -> WireValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64URL.decode(String(parts[1])) else { return nil }
        return try? JSONDecoder().decode(WireValue.self, from: Data(bytes))
    }

    private static func basicCredentials(_ authorization: String?) -> (name: String, secret: String)? {
        guard let authorization, authorization.lowercased().hasPrefix("basic "),
            let data = Data(base64Encoded: String(authorization.dropFirst(6)))
        else { return nil }
        let parts = String(decoding: data, as: UTF8.self).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        // RFC 6749 §2.3.1: client identifier and secret are form-encoded before Base64.
        let decoded = parts.map { RecordedParameters(Array("v=\($0)".utf8))["v"] ?? String($0) }
        return (decoded[0], decoded[1])
    }
}

extension ClientScript.Authentication {
    /// Whether the method authenticates the client.
    var isAuthentication: Bool {
        switch self {
        case .none, .noSecretAllowed: false
        case .post, .basic, .privateKey: true
        }
    }
}
