public import CounterfoilProtocol
import Crypto

/// The server's own key: 256 bits in a file that only the server reads.
///
/// Everything else is derived from it.
public struct ServerKey: Sendable {
    private let key: SymmetricKey

    /// The key that a file holds, or nil when it is not 32 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// The bytes of a new key.
    public static func newBytes(random: RandomBytes = RandomBytes()) -> [UInt8] { random.bytes(32) }

    /// The key of the tickets on pages.
    var tickets: SymmetricKey { derived("counterfoil page tickets") }

    /// The key that seals the hint of an earlier sign-in.
    var earlierSignIns: SymmetricKey { derived("counterfoil earlier sign-ins") }

    /// The key of the refresh tokens.
    var refreshTokens: SymmetricKey { derived("counterfoil refresh tokens") }

    /// The key that names people to applications one by one.
    var pairwiseSubjects: SymmetricKey { derived("counterfoil pairwise subjects") }

    /// The key that names sessions to applications one by one.
    var pairwiseSessions: SymmetricKey { derived("counterfoil pairwise sessions") }

    /// The key that seals the signing keys in the store.
    private var sealing: SymmetricKey { derived("counterfoil signing keys") }

    /// Seals a private key for the store, bound to its identifier.
    func seal(_ bytes: [UInt8], identifier: String) throws -> [UInt8] {
        let box = try AES.GCM.seal(bytes, using: sealing, authenticating: Array(identifier.utf8))
        guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
        return Array(combined)
    }

    /// Opens what ``seal(_:identifier:)`` has sealed with the same server key.
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
