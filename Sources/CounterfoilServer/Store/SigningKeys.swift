public import CounterfoilTokens
public import Foundation

/// A signing key as a store keeps it: sealed with the server's own key.
public struct SealedSigningKey: Sendable, Hashable {
    /// `kid`.
    public let id: KeyIdentifier
    /// What it signs with.
    public let algorithm: SigningAlgorithm
    /// The sealed private key.
    public let sealed: [UInt8]
    /// When it was made; it is published from then on.
    public let createdAt: Date
    /// From when on it signs; a key is published for a while before (OpenID Connect Core §10.1.1).
    public let signsFrom: Date
    /// When its successor took over; nil while it has none.
    public var replacedAt: Date?

    /// Makes a record.
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

/// What happened when a key was to be added.
public enum AddSigningKeyOutcome: Sendable, Hashable {
    /// It is kept now.
    case added
    /// Another one of the same algorithm came first; nothing was written.
    case algorithmHasKey
}

/// The keys with which the server signs.
public protocol SigningKeyStore: Sendable {
    /// Every key, oldest first.
    func signingKeys() async throws(StoreFault) -> [SealedSigningKey]
    /// Keeps the first key of an algorithm, unless there is one already.
    func addFirstSigningKey(_ key: SealedSigningKey) async throws(StoreFault) -> AddSigningKeyOutcome
    /// Keeps the successor of a key, which is replaced from the moment on at which the successor signs, unless it has one already.
    func addSigningKey(
        _ key: SealedSigningKey, replacing former: KeyIdentifier
    ) async throws(StoreFault) -> AddSigningKeyOutcome
    /// Removes a key that has a successor, whatever it has signed; false when there is none, or it has no successor.
    func removeSigningKey(_ id: KeyIdentifier) async throws(StoreFault) -> Bool
    /// Removes keys that were replaced before a moment; how many.
    @discardableResult
    func removeSigningKeys(replacedBefore time: Date) async throws(StoreFault) -> Int
}
