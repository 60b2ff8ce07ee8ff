public import Foundation

/// The client assertions that were used, so that each is accepted only once.
public protocol ClientAssertionStore: Sendable {
    /// Records the use of a client assertion (RFC 7523 §3).
    ///
    /// The check and the insertion are one transaction. Of two requests with the same assertion, only one thus
    /// succeeds.
    ///
    /// - Returns: True if the use was recorded; false if the assertion was already used and has not expired.
    func noteAssertion(_ digest: ArtefactDigest, expires: Date, now: Date) async throws(StoreFault) -> Bool
}
