public import CounterfoilProtocol
import Synchronization

/// A store that forgets when the application ends: for those that sign in each time, and for tests.
public final class MemoryTokenStore: TokenStore {
    private struct State {
        var records: [ProfileName: TokenRecord] = [:]
        var rights: Set<String> = []
        var registrations: [Issuer: ClientRegistration] = [:]
    }

    private let state: SharedState<State>

    /// Makes an empty store.
    public init() { state = SharedState(State()) }

    /// What is kept under a profile, or nil when there is nothing.
    public func record(of profile: ProfileName) -> TokenRecord? {
        state.value.withLock { $0.records[profile] }
    }

    /// Decides by what is kept under a profile what becomes of it, and does that; answers what was there before.
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

    /// Every profile that something is kept under, in the order of their names.
    public func profiles() -> [StoredProfile] {
        state.value.withLock { $0.records.map { StoredProfile($0.key, $0.value) } }
            .sorted { $0.name.rawValue < $1.name.rawValue }
    }

    /// Waits until no other task has the exclusive right to a profile, and takes it.
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
    /// What was registered at a server, or nil when nothing is kept.
    public func registration(at issuer: Issuer) -> ClientRegistration? {
        state.value.withLock { $0.registrations[issuer] }
    }

    /// Keeps a registration in the place of the one of the same server.
    public func keep(_ registration: ClientRegistration) {
        state.value.withLock { $0.registrations[registration.issuer] = registration }
    }

    /// Forgets the registration of a server, if there is one.
    public func forgetRegistration(at issuer: Issuer) {
        state.value.withLock { _ = $0.registrations.removeValue(forKey: issuer) }
    }

    /// Waits until no other task has the exclusive right to register at a server, and takes it.
    public func exclusiveRight(
        toRegisterAt issuer: Issuer, within limit: Duration
    ) async throws(TokenStoreError) -> ExclusiveRight {
        try await right(issuer.registrationLockName, within: limit)
    }
}

/// A value that a right shares with the store that gave it, so that the right may outlive the store.
private final class SharedState<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }
}
