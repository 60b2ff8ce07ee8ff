@_spi(Counterfoil) package import CounterfoilProtocol
import Crypto
import Foundation

/// The secret with which the requests to a webhook are signed, `whsec_` and its bytes in base64 (Standard Webhooks).
package struct WebhookSecret: Secret {
    private static let prefix = "whsec_"

    package let exposed: String
    package let bytes: [UInt8]

    /// Generates a secret of 256 random bits.
    package init(random: RandomBytes = RandomBytes()) { self.init(bytes: random.bytes(32)) }

    package init(bytes: [UInt8]) {
        self.bytes = bytes
        exposed = Self.prefix + Data(bytes).base64EncodedString()
    }

    /// Signs a request: `v1,` and the code in base64 (Standard Webhooks, "Signature scheme").
    func signature(of id: String, at timestamp: Int, _ body: [UInt8]) -> String {
        var content = Data("\(id).\(timestamp).".utf8)
        content.append(contentsOf: body)
        let code = HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: bytes))
        return "v1," + Data(code).base64EncodedString()
    }
}
