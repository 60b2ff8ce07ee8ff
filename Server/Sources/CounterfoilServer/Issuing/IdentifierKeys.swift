import CounterfoilProtocol
import CounterfoilStore
import Crypto

/// The keys of the identifiers that clients know their users and sessions by.
///
/// A client must always get the same `sub` for a user (OpenID Connect Core §8.1). The keys are therefore made once,
/// from the server key of that time, and stay in the store, encrypted with the server key. A new server key does not
/// change them.
struct IdentifierKeys: Sendable {
    /// The key from which pairwise subject identifiers are computed.
    let subjects: SymmetricKey
    /// The key from which one key for each sector is derived, which encrypts the pairwise session identifiers.
    let sessions: SymmetricKey

    /// Creates the keys of a store that has none.
    init(_ serverKey: ServerKey) {
        subjects = serverKey.pairwiseSubjects
        sessions = serverKey.pairwiseSessions
    }

    /// Restores keys; nil unless there are 64 bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 2 * ServerKey.size else { return nil }
        subjects = SymmetricKey(data: bytes.prefix(ServerKey.size))
        sessions = SymmetricKey(data: bytes.suffix(ServerKey.size))
    }

    /// The bytes of both keys.
    var bytes: [UInt8] { [subjects, sessions].flatMap { key in key.withUnsafeBytes { Array($0) } } }

    /// Reads the keys of a store, and stores them first if it has none.
    ///
    /// If a former server key encrypted them, they are encrypted again with the current one, so that the former one can
    /// be given up.
    ///
    /// - Throws: `KeyRing.Refusal` if they were encrypted with another server key, and a `StoreFault`.
    static func open(_ store: any IdentifierKeyStore, serverKey: ServerKey) async throws -> IdentifierKeys {
        let sealed = try await store.identifierKeys(orStoring: try serverKey.seal(IdentifierKeys(serverKey)))
        guard let (keys, isCurrent) = try? serverKey.open(identifierKeys: sealed) else {
            throw KeyRing.Refusal.wrongServerKeyOfIdentifiers
        }
        // If another server has done the same meanwhile, its result is as good.
        if !isCurrent { try await store.replaceIdentifierKeys(sealed, with: try serverKey.seal(keys)) }
        return keys
    }
}

extension ServerKey {
    /// Encrypts the keys of the identifiers for the store.
    func seal(_ keys: IdentifierKeys) throws -> [UInt8] { try identifierSealing.seal(keys.bytes) }

    /// Decrypts the keys of the identifiers, and returns whether the current key encrypted them.
    func open(identifierKeys sealed: [UInt8]) throws -> (keys: IdentifierKeys, isCurrent: Bool) {
        let (bytes, isCurrent) = try identifierSealing.open(sealed)
        guard let keys = IdentifierKeys(bytes: bytes) else { throw CryptoKitError.incorrectParameterSize }
        return (keys, isCurrent)
    }
}
