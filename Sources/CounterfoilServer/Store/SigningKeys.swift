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
    /// When it was made.
    public let createdAt: Date

    /// Makes a record.
    public init(id: KeyIdentifier, algorithm: SigningAlgorithm, sealed: [UInt8], createdAt: Date) {
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
}
