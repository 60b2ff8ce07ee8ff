import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Crypto

/// A private key, parsed from the text of a PEM or JSON Web Key file.
struct PrivateKeyText {
    let algorithm: SigningAlgorithm
    let representation: [UInt8]
    /// `kid` of a JSON Web Key; nil if the text contains none.
    var id: String?
    /// `alg` of a JSON Web Key; nil if the text contains none.
    var statedAlgorithm: ClientKey.Algorithm?

    /// The DER bytes before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410 §7).
    ///
    /// The first prefix is for a private key alone, the second for a private key with the public key after it. They
    /// differ in two bytes: the DER length of the whole key, and the version.
    private static let ed25519Beginnings: [[UInt8]] = [
        [0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20],
        [0x30, 0x51, 0x02, 0x01, 0x01, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20],
    ]

    /// Parses PEM or a JSON Web Key; nil if the text is longer than 16 KiB or is not a supported private key.
    init?(_ text: String) {
        guard text.utf8.count <= 16 * 1024 else { return nil }
        if let members = try? JSONReader.object(Array(text.utf8)) {
            self.init(jsonWebKey: members)
        } else if let key = try? P256.Signing.PrivateKey(pemRepresentation: text) {
            self.init(.es256, Array(key.rawRepresentation))
        } else {
            self.init(pem: text)
        }
    }

    private init(
        _ algorithm: SigningAlgorithm, _ representation: [UInt8], id: String? = nil,
        stated: ClientKey.Algorithm? = nil
    ) {
        self.algorithm = algorithm
        self.representation = representation
        self.id = id
        statedAlgorithm = stated
    }

    /// Parses PEM with an Ed25519 or RSA key; ``ClientKey`` checks the numbers of an RSA key.
    private init?(pem text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingWhitespace() }
        guard let first = lines.first, let last = lines.last, lines.count > 2,
            let bytes = Data(base64Encoded: lines.dropFirst().dropLast().joined()).map(Array.init)
        else { return nil }
        switch (first, last) {
        case ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"): self.init(.rs256, bytes)
        case ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"):
            guard let beginning = Self.ed25519Beginnings.first(where: { bytes.starts(with: $0) }) else {
                self.init(.rs256, bytes)
                return
            }
            guard bytes.count >= beginning.count + 32, bytes.count == Int(bytes[1]) + 2 else { return nil }
            self.init(.edDSA, Array(bytes[beginning.count..<beginning.count + 32]))
        default: return nil
        }
    }

    /// Parses a JSON Web Key (RFC 7518 §6.2.2 and §6.3.2, RFC 8037 §2).
    private init?(jsonWebKey members: [String: JSONValue]) {
        func text(_ name: String) -> String? { members[name]?.text }
        let stated = text("alg").map { ClientKey.Algorithm(rawValue: $0) }
        func octets() -> [UInt8]? { text("d").flatMap(Base64URL.decode).flatMap { $0.count == 32 ? $0 : nil } }
        switch (text("kty"), text("crv")) {
        case ("EC", "P-256"):
            guard let secret = octets() else { return nil }
            self.init(.es256, secret, id: text("kid"), stated: stated)
        case ("OKP", "Ed25519"):
            guard let secret = octets() else { return nil }
            self.init(.edDSA, secret, id: text("kid"), stated: stated)
        case ("RSA", _):
            let numbers = ["n", "e", "d", "p", "q", "dp", "dq", "qi"].compactMap { text($0).flatMap(Base64URL.decode) }
            guard numbers.count == 8 else { return nil }
            self.init(.rs256, RSAKeyEncoding.privateKey(numbers: numbers), id: text("kid"), stated: stated)
        default: return nil
        }
    }
}
