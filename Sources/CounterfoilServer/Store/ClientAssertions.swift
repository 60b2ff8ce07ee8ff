public import Foundation

/// The record of used client assertions.
public protocol ClientAssertionStore: Sendable {
    /// Records the use of a client assertion (RFC 7523 §3).
    ///
    /// The check and the record are one transaction, so that of two requests with the same assertion only one
    /// succeeds.
    ///
    /// - Returns: False if the assertion was used before and has not expired.
    func noteAssertion(_ digest: ArtefactDigest, expires: Date, now: Date) async throws(StoreFault) -> Bool
}
