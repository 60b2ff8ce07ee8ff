public import CounterfoilProtocol
import Crypto

/// The server key: 256 secret bits from which all other symmetric keys are derived.
///
/// The key is not in the database. It is in a file that only the server can read, or in an environment variable.
public struct ServerKey: Sendable {
    private let key: SymmetricKey

    /// Creates a key from its bytes; nil unless there are exactly 32.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// Creates 32 random bytes for a new server key, which the caller must keep outside the database.
    public static func newBytes(random: RandomBytes = RandomBytes()) -> [UInt8] { random.bytes(32) }

    /// The key that authenticates form tickets, which protect forms against cross-site request forgery.
    var tickets: SymmetricKey { derived("counterfoil page tickets") }

    /// The key that encrypts the cookie in which the browser remembers the user who last signed in.
    var earlierSignIns: SymmetricKey { derived("counterfoil earlier sign-ins") }

    /// The HMAC key of refresh tokens.
    var refreshTokens: SymmetricKey { derived("counterfoil refresh tokens") }

    /// The key from which pairwise subject identifiers are computed.
    var pairwiseSubjects: SymmetricKey { derived("counterfoil pairwise subjects") }

    /// The key from which one key for each sector is derived, which encrypts the pairwise session identifiers.
    var pairwiseSessions: SymmetricKey { derived("counterfoil pairwise sessions") }

    /// The key from which the nonces for DPoP proofs are made.
    var proofNonces: SymmetricKey { derived("counterfoil dpop nonces") }

    /// The HMAC key of the pseudonyms of deleted users in the audit log.
    var auditPseudonyms: SymmetricKey { derived("counterfoil audit pseudonyms") }

    /// The key that encrypts the identifiers of deleted users in queued logout notifications.
    var removedSubjects: SymmetricKey { derived("counterfoil removed subjects") }

    /// The key that encrypts the signing keys in the store.
    private var sealing: SymmetricKey { derived("counterfoil signing keys") }

    /// Encrypts the identifier of a deleted user for the queue of the logout notifications.
    func seal(subject person: PersonIdentifier) throws -> [UInt8] {
        let box = try AES.GCM.seal(Array(person.rawValue.utf8), using: removedSubjects)
        guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
        return Array(combined)
    }

    /// Encrypts a private key for the store, and binds the result to the key identifier.
    func seal(_ bytes: [UInt8], identifier: String) throws -> [UInt8] {
        let box = try AES.GCM.seal(bytes, using: sealing, authenticating: Array(identifier.utf8))
        guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
        return Array(combined)
    }

    /// Decrypts the output of ``seal(_:identifier:)`` with the same server key.
    func open(_ sealed: [UInt8], identifier: String) throws -> [UInt8] {
        Array(
            try AES.GCM.open(
                AES.GCM.SealedBox(combined: sealed), using: sealing, authenticating: Array(identifier.utf8))
        )
    }

    private func derived(_ purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Array(purpose.utf8), outputByteCount: 32)
    }
}
