import Crypto
import Foundation

/// The verification of events that the server posts to a webhook (Standard Webhooks 1.0.0).
///
/// The library keeps the identifiers of the events that it has processed, and ignores an event that it has.
struct WebhookVerification {
    let secrets: [SymmetricKey]

    /// Creates a verification with the secrets as they were shown, `whsec_…`; nil if one is malformed.
    ///
    /// After a rotation, the new and the former secret are valid.
    init?(secrets texts: [String]) {
        let keys = texts.map { text in
            text.hasPrefix("whsec_") ? Data(base64Encoded: String(text.dropFirst(6))) : nil
        }
        guard !keys.isEmpty, keys.allSatisfy({ $0 != nil }) else { return nil }
        secrets = keys.compactMap { $0.map { SymmetricKey(data: $0) } }
    }

    // snippet.show
    /// Returns true if a request is authentic and not older than five minutes.
    ///
    /// The body must be the bytes that arrived, and not JSON that was parsed and written again.
    func isAuthentic(id: String, timestamp: String, signature: String, body: Data, now: Date = Date()) -> Bool {
        guard let time = TimeInterval(timestamp), abs(now.timeIntervalSince1970 - time) <= 300 else { return false }
        let content = Data("\(id).\(timestamp).".utf8) + body
        return signature.split(separator: " ").contains { part in
            guard part.hasPrefix("v1,"), let code = Data(base64Encoded: String(part.dropFirst(3))) else { return false }
            return secrets.contains { HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: content, using: $0) }
        }
    }
    // snippet.hide
}
