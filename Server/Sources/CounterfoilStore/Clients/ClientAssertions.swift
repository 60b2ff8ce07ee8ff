public import Foundation

/// The client assertions that were used, so that each is accepted only once.
public protocol ClientAssertionStore: Sendable {
    /// Records the use of a client assertion until `expires` (RFC 7523 §3).
    ///
    /// The check and the insertion are one transaction. Of two concurrent requests with the same assertion, only one
    /// succeeds.
    ///
    /// - Returns: True if the use was recorded; false if the store has a record of an earlier use that expires at
    ///   `now` or later. An earlier use by the same attempt is this use, so the result is true again.
    func noteAssertion(
        _ digest: ArtefactDigest, expires: Date, attempt: CommitAttempt, now: Date
    ) async throws(StoreFault) -> Bool
}
