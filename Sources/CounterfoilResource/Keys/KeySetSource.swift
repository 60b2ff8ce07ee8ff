public import CounterfoilTokens
public import Foundation

/// A source of the keys of an issuer.
public protocol KeySetSource: Sendable {
    /// Fetches the current keys.
    ///
    /// A ``KeySetCache`` decides when to call this function, and never calls it concurrently.
    ///
    /// - Throws: ``KeySetFailure`` if the keys are unavailable.
    func fetch() async throws -> FetchedKeySet
}

/// The keys of an issuer with their cache lifetime.
public struct FetchedKeySet: Sendable {
    /// The keys.
    public let keys: JSONWebKeySet
    /// The cache lifetime in seconds that the issuer states; nil if it states none.
    public let lifetime: TimeInterval?

    /// Creates the result of a fetch.
    public init(keys: JSONWebKeySet, lifetime: TimeInterval? = nil) {
        self.keys = keys
        self.lifetime = lifetime
    }
}

/// The reason why the keys of an issuer are unavailable.
public struct KeySetFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, for the log and for operators of the API.
    public let description: String

    /// Creates a failure from an explanation.
    public init(_ description: String) {
        self.description = description
    }
}

/// The error for missing or expired keys, when a request at once would not help.
struct KeySetUnavailable: Error {
    /// The number of seconds until a retry is useful.
    let retryAfter: Int
    /// The reason for the log.
    let reason: String
}
