public import CounterfoilTokens
public import Foundation

/// Where the keys of an issuer come from.
public protocol KeySetSource: Sendable {
    /// Gets the keys as they are now; throws a ``KeySetFailure`` when they cannot be had.
    ///
    /// A ``KeySetCache`` calls it once at a time and decides when.
    func fetch() async throws -> FetchedKeySet
}

/// The keys of an issuer as they just came.
public struct FetchedKeySet: Sendable {
    /// The keys.
    public let keys: JSONWebKeySet
    /// For how many seconds the sender says that they stay the same; nil when it does not say.
    public let lifetime: TimeInterval?

    /// Makes an answer of a source.
    public init(keys: JSONWebKeySet, lifetime: TimeInterval? = nil) {
        self.keys = keys
        self.lifetime = lifetime
    }
}

/// Why the keys of an issuer could not be had.
public struct KeySetFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened and where, for the log and for whoever configures the API.
    public let description: String

    /// Makes a failure.
    public init(_ description: String) {
        self.description = description
    }
}

/// There are no keys to verify with, and there is no use in asking at once.
struct KeySetUnavailable: Error {
    /// After how many seconds another attempt makes sense.
    let retryAfter: Int
    /// What happened, for the log.
    let reason: String
}
