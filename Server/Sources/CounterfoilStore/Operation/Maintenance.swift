@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The time limits for the deletion of expired records.
public struct ExpirationLimits: Sendable, Hashable {
    /// The current time; sessions, token families, client assertions and pushed requests that expired before
    /// it are deleted.
    public let now: Date
    /// The limit for codes; codes that expired before it are deleted.
    public let codesBefore: Date
    /// The limit for idle sessions; sessions that were last used before it are deleted.
    public let sessionsIdleBefore: Date
    /// The limit for idle token families; families that were last used before it are deleted.
    public let refreshIdleBefore: Date
    /// The limit for grants; grants that were revoked before it are deleted.
    ///
    /// Grants without a token family are also deleted if they were last used before this time.
    public let grantsBefore: Date
    /// The limit for unregistered clients without use.
    ///
    /// Clients that were stored or changed before it, and to which no user allows anything, are deleted.
    public let unusedClientsBefore: Date
    /// The limit for clients that registered themselves; those that no user has used since before it are deleted.
    public let idleClientsBefore: Date

    /// Creates limits; each one except `now` is the current time minus the time for which records of its kind are kept.
    public init(
        now: Date, codesBefore: Date, sessionsIdleBefore: Date, refreshIdleBefore: Date, grantsBefore: Date,
        unusedClientsBefore: Date = .distantPast, idleClientsBefore: Date = .distantPast
    ) {
        self.now = now
        self.codesBefore = codesBefore
        self.sessionsIdleBefore = sessionsIdleBefore
        self.refreshIdleBefore = refreshIdleBefore
        self.grantsBefore = grantsBefore
        self.unusedClientsBefore = unusedClientsBefore
        self.idleClientsBefore = idleClientsBefore
    }
}

/// The mark of a server in the lease of the maintenance, 128 random bits.
public struct LeaseHolder: Sendable, Hashable {
    /// The 16 bytes of the mark.
    public let bytes: [UInt8]

    /// Creates a random mark.
    public init(random: RandomBytes = RandomBytes()) { bytes = random.bytes(16) }

    /// Creates the mark with the bytes of a stored one.
    package init(stored bytes: [UInt8]) { self.bytes = bytes }
}

/// The lease of the maintenance, which one of the servers on a store has.
public struct MaintenanceLease: Sendable, Hashable {
    /// The server that has it.
    public let holder: LeaseHolder
    /// The time at which it ends unless the server renews it.
    public let end: Date

    /// Creates the lease of a server.
    public init(holder: LeaseHolder, end: Date) {
        self.holder = holder
        self.end = end
    }
}

/// The deletion of expired records, by one server at a time.
public protocol MaintenanceStore: Sendable {
    /// Takes the lease of the maintenance, or renews it, unless another server has it.
    ///
    /// A lease that ends long after `end`, later than `end` by its whole length, is from before the clock was set back,
    /// and counts as ended.
    ///
    /// - Parameters:
    ///   - holder: The mark of the server.
    ///   - end: The end of the lease.
    ///   - now: The current time.
    /// - Returns: True if the server has the lease.
    func takeMaintenanceLease(
        _ holder: LeaseHolder, until end: Date, at now: Date
    ) async throws(StoreFault) -> Bool
    /// Returns the lease of the maintenance, so that another server need not wait for its end; has no effect if another
    /// server has it.
    func returnMaintenanceLease(_ holder: LeaseHolder) async throws(StoreFault)
    /// Reads the lease of the maintenance; nil if no server has it at a time.
    func maintenanceLease(at now: Date) async throws(StoreFault) -> MaintenanceLease?
    /// Deletes expired records in one transaction, at most `rows` of each kind.
    ///
    /// The limit `rows` keeps the transaction short, so that other writes run between two calls. The kinds are codes,
    /// sessions, token families, grants, client assertions, pushed requests, device authorizations and initial access
    /// tokens. Clients that identified or registered themselves are another kind: such a client is deleted with
    /// everything that belongs to it (``ClientRemoval``), and the store does not remember its identifier.
    ///
    /// The store keeps a grant that still has a code. It also keeps an unrevoked grant whose session is still stored if
    /// the client receives back-channel logout notifications, because the client must be notified when the session
    /// ends.
    ///
    /// - Returns: The number of deleted records; 0 when nothing is left to delete.
    func deleteExpired(_ limits: ExpirationLimits, atMost rows: Int) async throws(StoreFault) -> Int
}
