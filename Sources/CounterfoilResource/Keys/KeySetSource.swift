public import CounterfoilTokens
public import Foundation

/// A source of the public keys with which resource servers verify the tokens of an issuer.
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
    /// The keys, which replace all keys that were fetched earlier.
    public let keys: JSONWebKeySet
    /// The cache lifetime in seconds that the issuer states; nil if it states none.
    public let lifetime: TimeInterval?

    /// Creates the result of ``KeySetSource/fetch()``, with a lifetime in seconds.
    public init(keys: JSONWebKeySet, lifetime: TimeInterval? = nil) {
        self.keys = keys
        self.lifetime = lifetime
    }
}

/// The error that a ``KeySetSource`` throws if the keys of an issuer are unavailable.
public struct KeySetFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, for the log and for operators of the API.
    public let description: String

    /// Creates a failure from an explanation, which must contain no secret, because it is logged.
    public init(_ description: String) {
        self.description = description
    }
}

/// The error thrown if no usable keys are cached, or if it is unknown whether the issuer has the key of a token.
struct KeySetUnavailable: Error {
    /// The number of seconds until a retry is useful.
    let retryAfter: Int
    /// The reason why the keys are unavailable, for the log only.
    let reason: String
}
