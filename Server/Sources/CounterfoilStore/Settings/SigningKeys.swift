public import CounterfoilTokens
public import Foundation

/// A signing key in the store, encrypted with the server key.
public struct SealedSigningKey: Sendable, Hashable {
    /// The key identifier, `kid`.
    public let id: KeyIdentifier
    /// The algorithm with which the key signs, `alg`.
    public let algorithm: SigningAlgorithm
    /// The private key, encrypted with the server key and bound to ``id``.
    public let sealed: [UInt8]
    /// The time of creation, from which the server publishes the key in its JWKS.
    public let createdAt: Date
    /// The time from which the server signs with the key.
    ///
    /// Usually the server publishes the key some time before, so that clients have it in their cached key sets (OpenID
    /// Connect Core §10.1.1).
    public let signsFrom: Date
    /// The time from which the server signs with the successor of the key; nil if the key has none.
    public var replacedAt: Date?

    /// Creates a record; by default, the key signs from its creation and has no successor.
    public init(
        id: KeyIdentifier, algorithm: SigningAlgorithm, sealed: [UInt8], createdAt: Date, signsFrom: Date? = nil,
        replacedAt: Date? = nil
    ) {
        self.signsFrom = signsFrom ?? createdAt
        self.replacedAt = replacedAt
        self.id = id
        self.algorithm = algorithm
        self.sealed = sealed
        self.createdAt = createdAt
    }
}

/// The needs of all clients together that concern the signing keys.
public struct SigningNeeds: Sendable, Hashable {
    /// The number of clients that get ID tokens with an algorithm, without those that act without a user.
    public var clients: [SigningAlgorithm: Int]
    /// The longest lifetime of access tokens that the policy of a client sets, in seconds; nil if none sets one.
    public var accessTokenLifetime: Int?
    /// The longest lifetime of ID tokens that the policy of a client sets, in seconds; nil if none sets one.
    public var idTokenLifetime: Int?

    /// Creates a value; by default, there is no client.
    public init(
        clients: [SigningAlgorithm: Int] = [:], accessTokenLifetime: Int? = nil, idTokenLifetime: Int? = nil
    ) {
        self.clients = clients
        self.accessTokenLifetime = accessTokenLifetime
        self.idTokenLifetime = idTokenLifetime
    }
}

/// The outcome of ``SigningKeyStore/addFirstSigningKey(_:recording:)`` and
/// ``SigningKeyStore/addSigningKey(_:replacing:recording:)``.
public enum AddSigningKeyOutcome: Sendable, Hashable {
    /// The key was stored.
    case added
    /// The algorithm already has a key, or the key to replace already has a successor; nothing was written.
    case algorithmHasKey
}

/// The signing keys of the server: for each algorithm the key that signs, replaced keys, and perhaps a successor.
public protocol SigningKeyStore: Sendable {
    /// Reads all keys, oldest first.
    func signingKeys() async throws(StoreFault) -> [SealedSigningKey]
    /// Reads what all clients together need of the signing keys; an algorithm that this version does not know is left
    /// out.
    func signingNeeds() async throws(StoreFault) -> SigningNeeds
    /// Stores the first key of an algorithm, unless the algorithm already has a key.
    func addFirstSigningKey(
        _ key: SealedSigningKey, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSigningKeyOutcome
    /// Stores the successor of a key, unless the key already has one.
    ///
    /// Also sets ``SealedSigningKey/replacedAt`` of the former key to the ``SealedSigningKey/signsFrom`` of the
    /// successor, and of the other keys of the algorithm whose ``SealedSigningKey/replacedAt`` is later than that.
    func addSigningKey(
        _ key: SealedSigningKey, replacing former: KeyIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSigningKeyOutcome
    /// Deletes a key that has a successor; returns false if the key does not exist or has no successor.
    ///
    /// Tokens that the deleted key signed can no longer be verified.
    func removeSigningKey(_ id: KeyIdentifier, recording events: [AuditEvent]) async throws(StoreFault) -> Bool
    /// Deletes the keys that were replaced before a time, and returns their number.
    ///
    /// If it deletes any, the store appends the events that `events` returns for their number.
    @discardableResult
    func removeSigningKeys(
        replacedBefore time: Date, recording events: @escaping @Sendable (Int) -> [AuditEvent]
    ) async throws(StoreFault) -> Int
}
