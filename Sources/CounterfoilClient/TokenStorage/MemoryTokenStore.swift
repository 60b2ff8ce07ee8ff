@_spi(Counterfoil) public import CounterfoilProtocol

/// A store in memory, for tests and for apps in which the user signs in at each start.
public final class MemoryTokenStore: TokenStore {
    private struct State {
        var records: [ProfileName: TokenRecord] = [:]
        var locks: Set<String> = []
        var failures: [ProfileName: RefreshFailure] = [:]
        var registrations: [Issuer: ClientRegistration] = [:]
    }

    private let state: SharedState<State>

    /// Creates an empty store.
    public init() { state = SharedState(State()) }

    /// Returns the record of a profile, or nil if there is none.
    public func record(of profile: ProfileName) -> TokenRecord? {
        state.value.withLock { $0.records[profile] }
    }

    /// Applies the change that the closure returns to the record of a profile, and returns what was stored before.
    @discardableResult
    public func update(
        _ profile: ProfileName, _ decide: @Sendable (StoredRecord) -> TokenRecord.Change
    ) -> StoredRecord {
        state.value.withLock { state in
            let before = state.records[profile].map { StoredRecord.record($0) } ?? .none
            switch decide(before) {
            case .keep: break
            case .put(let record): state.records[profile] = record
            case .remove: state.records[profile] = nil
            }
            return before
        }
    }

    /// Returns every profile that has a record, sorted by name.
    public func profiles() -> [StoredProfile] {
        state.value.withLock { $0.records.map { StoredProfile($0.key, .success(StoredSignIn($0.value))) } }
            .sorted { $0.name.rawValue < $1.name.rawValue }
    }

    /// Waits until no other task holds the refresh lock of a profile, and acquires it.
    public func refreshLock(
        of profile: ProfileName, within limit: Duration
    ) async throws(TokenStoreError) -> TokenStoreLock {
        try await lock("profile \(profile)", within: limit) { [state] failure in
            state.value.withLock { $0.failures[profile] = failure }
        }
    }

    /// Returns the failure that the last holder of the refresh lock left.
    public func refreshFailure(of profile: ProfileName) -> RefreshFailure? {
        state.value.withLock { $0.failures[profile] }
    }

    private func lock(
        _ name: String, within limit: Duration,
        leavingWith leave: @escaping @Sendable (RefreshFailure?) -> Void = { _ in }
    ) async throws(TokenStoreError) -> TokenStoreLock {
        _ = try await PollingWait(limit: limit).value {
            .busy(location: "memory", holder: nil)
        } _: { () throws(TokenStoreError) -> Bool? in
            state.value.withLock { $0.locks.insert(name).inserted } ? true : nil
        }
        return TokenStoreLock(leavingWith: leave) { [state] in
            state.value.withLock { _ = $0.locks.remove(name) }
        }
    }
}

extension MemoryTokenStore: ClientRegistrationStore {
    /// Returns the registration at a server, or nil if the store has none.
    public func registration(at issuer: Issuer) -> ClientRegistration? {
        state.value.withLock { $0.registrations[issuer] }
    }

    /// Stores a registration and replaces an earlier one at the same server.
    public func save(_ registration: ClientRegistration) {
        state.value.withLock { $0.registrations[registration.issuer] = registration }
    }

    /// Deletes the registration at a server, if there is one.
    public func removeRegistration(at issuer: Issuer) {
        state.value.withLock { _ = $0.registrations.removeValue(forKey: issuer) }
    }

    /// Waits until no other task holds the registration lock of a server, and acquires it.
    public func registrationLock(
        at issuer: Issuer, within limit: Duration
    ) async throws(TokenStoreError) -> TokenStoreLock {
        try await lock(issuer.registrationLockName, within: limit)
    }
}

/// State that a store shares with its locks, so that a lock can be released after the store was deallocated.
private final class SharedState<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }
}
