public import Foundation

/// What is over, by the moments at which the server takes it to be.
public struct HousekeepingLimits: Sendable, Hashable {
    /// Now.
    public let now: Date
    /// Codes that ended before are removed, with a grant that they gave nothing for.
    public let codesBefore: Date
    /// Sessions that nobody has used since are removed.
    public let sessionsIdleBefore: Date
    /// Refresh tokens that nobody has used since, or that ended before, are removed with their grants.
    public let refreshIdleBefore: Date
    /// Grants that were revoked before, or that have no refresh token and gave their last token before, are removed.
    public let grantsBefore: Date

    /// Makes limits.
    public init(now: Date, codesBefore: Date, sessionsIdleBefore: Date, refreshIdleBefore: Date, grantsBefore: Date) {
        self.now = now
        self.codesBefore = codesBefore
        self.sessionsIdleBefore = sessionsIdleBefore
        self.refreshIdleBefore = refreshIdleBefore
        self.grantsBefore = grantsBefore
    }
}

/// Removing what is over.
public protocol HousekeepingStore: Sendable {
    /// Removes at most so many rows of each kind, in a step short enough for others to write in between; how many rows went.
    func removeWhatIsOver(_ limits: HousekeepingLimits, atMost rows: Int) async throws(StoreFault) -> Int
    /// Notes that an assertion was used (RFC 7523 §3); false when it had been before and is not over.
    func noteAssertion(_ digest: ArtefactDigest, expires: Date, now: Date) async throws(StoreFault) -> Bool
}
