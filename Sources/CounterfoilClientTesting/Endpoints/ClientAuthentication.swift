import CounterfoilProtocol
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
            }
        return isAuthenticated ? clientID : nil
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
