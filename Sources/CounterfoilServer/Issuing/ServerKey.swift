public import CounterfoilProtocol
import Crypto

/// The server key: 256 bits in a file that only the server can read.
///
/// All other symmetric keys are derived from it.
public struct ServerKey: Sendable {
    private let key: SymmetricKey

    /// Creates a key from the bytes of its file; nil unless there are 32.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// Creates the bytes of a random key.
    public static func newBytes(random: RandomBytes = RandomBytes()) -> [UInt8] { random.bytes(32) }

    /// The key of the form tickets on pages.
    var tickets: SymmetricKey { derived("counterfoil page tickets") }

    /// The key that encrypts the hint of an earlier sign-in.
    var earlierSignIns: SymmetricKey { derived("counterfoil earlier sign-ins") }

    /// The key of the refresh tokens.
    var refreshTokens: SymmetricKey { derived("counterfoil refresh tokens") }

    /// The key of pairwise subject identifiers.
    var pairwiseSubjects: SymmetricKey { derived("counterfoil pairwise subjects") }

    /// The key of pairwise session identifiers.
    var pairwiseSessions: SymmetricKey { derived("counterfoil pairwise sessions") }

    /// The key that encrypts the signing keys in the store.
    private var sealing: SymmetricKey { derived("counterfoil signing keys") }

    /// Encrypts a private key for the store, and binds it to its identifier.
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
