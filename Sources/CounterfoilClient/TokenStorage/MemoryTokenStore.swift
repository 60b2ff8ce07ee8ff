public import CounterfoilProtocol
import Synchronization

/// A store in memory, for apps that sign in each time they run and for tests.
public final class MemoryTokenStore: TokenStore {
    private struct State {
        var records: [ProfileName: TokenRecord] = [:]
        var rights: Set<String> = []
        var registrations: [Issuer: ClientRegistration] = [:]
    }

    private let state: SharedState<State>

    /// Creates an empty store.
    public init() { state = SharedState(State()) }

    /// Returns the record of a profile, or nil if there is none.
    public func record(of profile: ProfileName) -> TokenRecord? {
        state.value.withLock { $0.records[profile] }
    }

    /// Updates the record of a profile as the closure decides, and returns the record from before.
    @discardableResult
    public func update(
        _ profile: ProfileName, _ decide: @Sendable (TokenRecord?) -> TokenRecord.Change
    ) -> TokenRecord? {
        state.value.withLock { state in
            let before = state.records[profile]
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
        state.value.withLock { $0.records.map { StoredProfile($0.key, $0.value) } }
            .sorted { $0.name.rawValue < $1.name.rawValue }
    }

    /// Waits until no other task holds the exclusive right to a profile, and acquires it.
    public func exclusiveRight(
        to profile: ProfileName, within limit: Duration
    ) async throws(TokenStoreError) -> ExclusiveRight {
        try await right("profile \(profile)", within: limit)
    }

    private func right(_ name: String, within limit: Duration) async throws(TokenStoreError) -> ExclusiveRight {
        _ = try await Turn(limit: limit).wait {
            .busy(place: "memory", holder: nil)
        } _: { () throws(TokenStoreError) -> Bool? in
            state.value.withLock { $0.rights.insert(name).inserted } ? true : nil
        }
        return ExclusiveRight { [state] in
            state.value.withLock { _ = $0.rights.remove(name) }
        }
    }
}

extension MemoryTokenStore: ClientRegistrationStore {
    /// Returns the registration at a server, or nil if the store has none.
    public func registration(at issuer: Issuer) -> ClientRegistration? {
        state.value.withLock { $0.registrations[issuer] }
    }

    /// Stores a registration and replaces an earlier one at the same server.
    public func keep(_ registration: ClientRegistration) {
        state.value.withLock { $0.registrations[registration.issuer] = registration }
    }

    /// Deletes the registration at a server, if there is one.
    public func forgetRegistration(at issuer: Issuer) {
        state.value.withLock { _ = $0.registrations.removeValue(forKey: issuer) }
    }

    /// Waits until no other task holds the exclusive right to register at a server, and acquires it.
    public func exclusiveRight(
        toRegisterAt issuer: Issuer, within limit: Duration
    ) async throws(TokenStoreError) -> ExclusiveRight {
        try await right(issuer.registrationLockName, within: limit)
    }
}

/// State that a right shares with the store that created it, so that the right may outlive the store.
private final class SharedState<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }
}
