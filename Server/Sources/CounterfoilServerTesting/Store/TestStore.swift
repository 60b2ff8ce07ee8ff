// The operations of a store are in this module, so a test that uses the store needs no second import.
@_exported public import CounterfoilSQL
import CounterfoilSQLite
import CounterfoilServer
public import CounterfoilStore
public import Foundation

/// A store for tests: the tables of the SQLite store in memory, and faults that a test asks for.
///
/// An operation that fails writes nothing, as the contract of the store protocols requires. With
/// ``lose(_:committing:times:)``, the answer to a commit is lost.
public final class TestStore: SQLStore {
    /// The database, with the faults in front of it.
    public let database: SQLDatabase
    private let store: any SQLStore
    private let faults: StoreFaults

    /// Creates a store in memory, which contains only the standard scopes.
    public convenience init() { self.init(Self.inMemory) }

    /// Puts faults in front of another store; none occurs until the test asks for it.
    public init(_ store: any SQLStore) {
        self.store = store
        faults = StoreFaults()
        database = SQLDatabase(
            FaultyEngine(engine: store.database.engine, faults: faults), reporting: store.database.unsupported)
    }

    private init(_ store: TestStore, for request: RequestContext) {
        self.store = store.store.serving(request)
        faults = store.faults
        database = store.database.serving(request)
    }

    /// Returns this store, with the same faults, for the operations of one request.
    public func serving(_ request: RequestContext) -> TestStore { TestStore(self, for: request) }

    private static var inMemory: EphemeralStore {
        do { return try EphemeralStore() } catch {
            preconditionFailure("SQLite cannot open a database in memory: \(error)")
        }
    }

    /// Makes operations fail until ``recover()`` is called.
    ///
    /// The registry appears to have changed, so that a cache above this store reads it again and meets the fault.
    public func fail(_ operations: StoreOperation..., with fault: StoreFault = .unavailable("the disk is full")) {
        faults.fail(operations, with: fault)
    }

    /// Makes every operation fail until ``recover()`` is called.
    public func failEverything(with fault: StoreFault = .unavailable("the disk is full")) {
        faults.failEverything(with: fault)
    }

    /// Makes the answers of commits get lost: the operation throws `StoreFault.unconfirmed`.
    ///
    /// - Parameters:
    ///   - operations: Operations that commit.
    ///   - isCommitted: Whether the commit happens before its answer is lost.
    ///   - times: The number of commits of each operation whose answers are lost; by default all until ``recover()``.
    public func lose(_ operations: StoreOperation..., committing isCommitted: Bool, times: Int = .max) {
        faults.lose(operations, committing: isCommitted, times: times)
    }

    /// Ends all faults of ``fail(_:with:)``, ``failEverything(with:)`` and ``lose(_:committing:times:)``.
    public func recover() { faults.recover() }

    /// Runs a closure once, before the next call of an operation reaches the database.
    ///
    /// A test can thus simulate a concurrent change, or a database that does not answer in time.
    public func before(_ operation: StoreOperation, do interlude: @escaping @Sendable () async -> Void) {
        faults.before(operation) { _ in await interlude() }
    }

    /// Lets the deadline of the request pass that calls an operation next, before the call reaches the database.
    public func delay(_ operation: StoreOperation) {
        faults.before(operation) { request in
            guard let deadline = request?.deadline else { return }
            try? await Task.sleep(until: deadline, clock: .continuous)
        }
    }

    /// The number of calls of each operation until now, including calls that failed.
    public var calls: [StoreOperation: Int] { faults.calls }

    /// Returns the number of calls of an operation until now, including calls that failed.
    public func calls(of operation: StoreOperation) -> Int { calls[operation] ?? 0 }

    /// The number of calls of each operation that no request made: those of services, and of the test itself.
    package var callsOutsideOfRequests: [StoreOperation: Int] { faults.callsOutsideOfRequests }

    /// Closes the database.
    public func close() async { await store.close() }

    // The operations that the store of a database can replace by statements of its own.

    /// Reads the revision of the registry, which differs after each ``fail(_:with:)`` and ``before(_:do:)``.
    public func registryRevision() async throws(StoreFault) -> RegistryRevision {
        try await faults.enter(.registryRevision, for: database.request)
        return RegistryRevision(try await store.registryRevision().number &+ faults.disturbances)
    }

    /// Notes the use of a DPoP proof, unless it was used before.
    public func noteProof(_ proof: UsedProof, at now: Date) async throws(StoreFault) -> NoteProofOutcome {
        try await faults.enter(.noteProof, for: database.request)
        return try await store.noteProof(proof, at: now)
    }

    /// Records the use of a client assertion, unless another attempt has recorded it.
    public func noteAssertion(
        _ digest: ArtefactDigest, expires: Date, attempt: CommitAttempt, now: Date
    ) async throws(StoreFault) -> Bool {
        try await faults.commit(.noteAssertion, for: database.request) { () async throws(StoreFault) in
            try await store.noteAssertion(digest, expires: expires, attempt: attempt, now: now)
        }
    }

    /// Decides whether an attempt can proceed, and counts it as a failure.
    public func admitAttempt(_ attempt: CountedAttempt, at now: Date) async throws(StoreFault) -> AttemptVerdict {
        try await faults.enter(.admitAttempt, for: database.request)
        return try await store.admitAttempt(attempt, at: now)
    }

    /// Deletes all failures under some digests, and only those of one attempt under others.
    public func settleAttempt(
        forgetting forgotten: [ArtefactDigest], withdrawing withdrawn: [ArtefactDigest], admittedAt time: Date
    ) async throws(StoreFault) {
        try await faults.enter(.settleAttempt, for: database.request)
        try await store.settleAttempt(forgetting: forgotten, withdrawing: withdrawn, admittedAt: time)
    }

    /// Takes due deliveries, so that no other caller takes them before `later`.
    public func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery] {
        try await faults.enter(StoreOperation(#function), for: database.request)
        return try await store.takeLogoutDeliveries(dueAt: now, until: later, limit: limit)
    }

    /// Deletes expired records, and returns their number.
    public func deleteExpired(_ limits: ExpirationLimits, atMost rows: Int) async throws(StoreFault) -> Int {
        try await faults.enter(StoreOperation(#function), for: database.request)
        return try await store.deleteExpired(limits, atMost: rows)
    }
}
