import CounterfoilProtocol
import CounterfoilTokens
import Crypto
import Foundation

/// A private key, parsed from the text of a PEM or JSON Web Key file.
struct PrivateKeyText {
    let algorithm: SigningAlgorithm
    let representation: [UInt8]
    /// `kid` of a JSON Web Key; nil if the text contains none.
    var id: String?

    /// The DER bytes before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410 §7).
    ///
    /// The first prefix is for a private key alone, the second for a private key with the public key after it. They
    /// differ in two bytes: the DER length of the whole key, and the version.
    private static let ed25519Beginnings: [[UInt8]] = [
        [0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20],
        [0x30, 0x51, 0x02, 0x01, 0x01, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20],
    ]

    /// Parses PEM or a JSON Web Key; nil if the text is longer than 16 KiB or is not a private P-256 or Ed25519 key.
    init?(_ text: String) {
        guard text.utf8.count <= 16 * 1024 else { return nil }
        if let members = try? JSONReader.object(Array(text.utf8)) {
            self.init(jsonWebKey: members)
        } else if let key = try? P256.Signing.PrivateKey(pemRepresentation: text) {
            self.init(.es256, Array(key.rawRepresentation))
        } else {
            self.init(ed25519PEM: text)
        }
    }

    private init(_ algorithm: SigningAlgorithm, _ representation: [UInt8], id: String? = nil) {
        self.algorithm = algorithm
        self.representation = representation
        self.id = id
    }

    private init?(ed25519PEM text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        guard lines.first == "-----BEGIN PRIVATE KEY-----", lines.last == "-----END PRIVATE KEY-----",
            let bytes = Data(base64Encoded: lines.dropFirst().dropLast().joined()).map(Array.init),
            let beginning = Self.ed25519Beginnings.first(where: { bytes.starts(with: $0) }),
            bytes.count >= beginning.count + 32, bytes.count == Int(bytes[1]) + 2
        else { return nil }
        self.init(.edDSA, Array(bytes[beginning.count..<beginning.count + 32]))
    }

    /// Parses a JSON Web Key (RFC 7518 §6.2.2 and RFC 8037 §2).
    private init?(jsonWebKey members: [String: JSONValue]) {
        func text(_ name: String) -> String? { if case .string(let text) = members[name] { text } else { nil } }
        guard let secret = text("d").flatMap(Base64URL.decode), secret.count == 32 else { return nil }
        switch (text("kty"), text("crv")) {
        case ("EC", "P-256"): self.init(.es256, secret, id: text("kid"))
        case ("OKP", "Ed25519"): self.init(.edDSA, secret, id: text("kid"))
        default: return nil
        }
    }
}
