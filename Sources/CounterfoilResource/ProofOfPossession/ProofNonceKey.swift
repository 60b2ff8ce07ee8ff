@_spi(Counterfoil) public import CounterfoilProtocol

/// The key with which an API makes and verifies the nonces of DPoP proofs.
///
/// RFC 9449 §9. Every process of the API needs the same key: a process refuses the nonces of another key. Use the key
/// for nothing else.
public struct ProofNonceKey: Secret {
    /// The minimum length of a key in bytes.
    public static let minimumByteCount = 32

    /// The key in base64url, as a program stores it.
    public let exposed: String

    let bytes: [UInt8]

    /// Generates a random key, for an API that runs in one process.
    ///
    /// After a restart, clients learn the nonces of the new key from a response with status 401.
    public init() { self.init(bytes: RandomBytes().bytes(Self.minimumByteCount)) }

    /// Creates a key from its stored form; nil unless it is the base64url encoding of 32 to 64 bytes.
    ///
    /// `openssl rand -base64 32 | tr '+/' '-_' | tr -d =` prints such a key.
    public init?(_ text: String) {
        guard text.utf8.count <= 86, let bytes = Base64URL.decode(text), bytes.count >= Self.minimumByteCount else {
            return nil
        }
        self.init(bytes: bytes)
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        exposed = Base64URL.encode(bytes)
    }
}
