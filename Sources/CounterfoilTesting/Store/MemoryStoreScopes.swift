import CounterfoilProtocol
public import CounterfoilServer
import Synchronization

extension MemoryStore: ScopeStore {
    /// Every scope by name.
    public func scopes() async throws(StoreFault) -> [ScopeDefinition] {
        state.withLock { state in state.scopes.values.sorted { $0.token < $1.token } }
    }

    /// Adds a scope, unless its name is taken.
    public func addScope(_ scope: ScopeDefinition) async throws(StoreFault) -> AddScopeOutcome {
        state.withLock { state in
            guard state.scopes[scope.token] == nil else { return .exists }
            state.scopes[scope.token] = scope
            return .added
        }
    }
}
