@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) public import CounterfoilTokens

/// A private key that the program cannot read, for client authentication by `private_key_jwt`.
///
/// Examples are a key in the Secure Enclave, in a key management service, or in a PKCS #11 token. Create a
/// ``ClientKey`` from it:
///
///     options.authentication = .privateKey(ClientKey(signer))
///
/// A token store cannot hold the key itself. The stored credentials therefore contain only its ``keyID`` and its
/// ``algorithm``. A program that starts again passes the signer to ``ClientSigners/register(_:)`` before it uses the
/// stored credentials.
public protocol ClientSigner: Sendable {
    /// `alg`: the algorithm of the signatures (RFC 7518 §3.1).
    var algorithm: ClientKey.Algorithm { get }
    /// `kid`: the identifier under which the server knows the key, 1 to 256 bytes.
    var keyID: String { get }
    /// The public key, which a dynamic registration contains; nil if the client never registers itself.
    var publicKey: JSONWebKey? { get }
    /// Signs bytes, and returns the signature in the format of RFC 7518 §3.
    ///
    /// An ECDSA signature is the concatenation of R and S, and not DER. The function may wait for a service or for the
    /// user. If it throws, the request is not sent.
    func signature(for bytes: [UInt8]) async throws -> [UInt8]
}

extension ClientSigner {
    /// No public key: the client never registers itself.
    public var publicKey: JSONWebKey? { nil }
}

/// The signers of this process, for credentials that a token store holds.
public enum ClientSigners {
    private static let known = Mutex<[ClientKey.Reference: any ClientSigner]>([:])

    /// Makes a signer available to the stored credentials that name its key; replaces an earlier signer of that key.
    public static func register(_ signer: any ClientSigner) {
        let reference = ClientKey.Reference(algorithm: signer.algorithm, id: signer.keyID)
        known.withLock { $0[reference] = signer }
    }

    static func signer(for reference: ClientKey.Reference) -> (any ClientSigner)? {
        known.withLock { $0[reference] }
    }
}
