public import Foundation

/// The times before which records count as expired.
public struct ExpirationLimits: Sendable, Hashable {
    /// The current time; records that expired before it are deleted.
    public let now: Date
    /// The expiry time before which codes are deleted.
    public let codesBefore: Date
    /// The time of last use before which sessions are deleted.
    public let sessionsIdleBefore: Date
    /// The time of last use before which token families are deleted; expired families are deleted too.
    public let refreshIdleBefore: Date
    /// The time before which a grant must have been revoked, or last used if it has no token family, to be deleted.
    public let grantsBefore: Date

    /// Creates limits.
    public init(now: Date, codesBefore: Date, sessionsIdleBefore: Date, refreshIdleBefore: Date, grantsBefore: Date) {
        self.now = now
        self.codesBefore = codesBefore
        self.sessionsIdleBefore = sessionsIdleBefore
        self.refreshIdleBefore = refreshIdleBefore
        self.grantsBefore = grantsBefore
    }
}

/// The deletion of expired records.
public protocol MaintenanceStore: Sendable {
    /// Deletes expired records in one transaction, at most `rows` of each kind.
    ///
    /// The limit keeps the transaction short, so that other writes run between two calls. The kinds are
    /// codes, sessions, token families, grants and client assertions. A grant that still has a code is kept.
    /// So is a grant of a stored session whose client receives back-channel logout notifications, unless the
    /// grant was revoked.
    ///
    /// - Returns: The number of deleted records; 0 when nothing is left to delete.
    func deleteExpired(_ limits: ExpirationLimits, atMost rows: Int) async throws(StoreFault) -> Int
}
