public import CounterfoilTokens
public import Foundation

/// A signing key in the store, encrypted with the server key.
public struct SealedSigningKey: Sendable, Hashable {
    /// The key identifier, `kid`.
    public let id: KeyIdentifier
    /// The algorithm of the key.
    public let algorithm: SigningAlgorithm
    /// The encrypted private key.
    public let sealed: [UInt8]
    /// The time of creation, from which the key is published.
    public let createdAt: Date
    /// The time from which the key signs; it is published for some time before (OpenID Connect Core §10.1.1).
    public let signsFrom: Date
    /// The time at which its successor takes over; nil if it has none.
    public var replacedAt: Date?

    /// Creates a record.
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

/// The outcome of adding a signing key.
public enum AddSigningKeyOutcome: Sendable, Hashable {
    /// The key was stored.
    case added
    /// The algorithm has another key, or the replaced key has a successor already; nothing was written.
    case algorithmHasKey
}

/// The signing keys of the server.
public protocol SigningKeyStore: Sendable {
    /// Reads all keys, oldest first.
    func signingKeys() async throws(StoreFault) -> [SealedSigningKey]
    /// Stores the first key of an algorithm, unless the algorithm has one.
    func addFirstSigningKey(_ key: SealedSigningKey) async throws(StoreFault) -> AddSigningKeyOutcome
    /// Stores the successor of a key, unless it has one.
    ///
    /// The former key is replaced from the successor's ``SealedSigningKey/signsFrom`` on.
    func addSigningKey(
        _ key: SealedSigningKey, replacing former: KeyIdentifier
    ) async throws(StoreFault) -> AddSigningKeyOutcome
    /// Deletes a key that has a successor; false if there is none or it has no successor.
    ///
    /// The caller knows that its signatures become invalid.
    func removeSigningKey(_ id: KeyIdentifier) async throws(StoreFault) -> Bool
    /// Deletes keys that were replaced before a time, and returns their number.
    @discardableResult
    func removeSigningKeys(replacedBefore time: Date) async throws(StoreFault) -> Int
}
