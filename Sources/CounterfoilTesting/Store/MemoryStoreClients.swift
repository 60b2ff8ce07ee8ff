public import CounterfoilProtocol
public import CounterfoilServer
import Foundation
import Synchronization

extension MemoryStore: ClientStore {
    /// The application of an identifier.
    public func client(_ id: ClientIdentifier) async throws(StoreFault) -> RegisteredClient? {
        state.withLock { state in state.clients.first { $0.id == id } }
    }

    /// Every application, oldest first.
    public func clients() async throws(StoreFault) -> [RegisteredClient] {
        state.withLock { state in state.clients.sorted { $0.createdAt < $1.createdAt } }
    }

    /// Registers an application, unless its identifier is taken or a scope does not exist.
    public func addClient(_ client: RegisteredClient) async throws(StoreFault) -> AddClientOutcome {
        state.withLock { state in
            guard !state.clients.contains(where: { $0.id == client.id }) else { return .identifierTaken }
            let unknown = client.scope.tokens.filter { state.scopes[$0] == nil }
            guard unknown.isEmpty else { return .unknownScopes(Scope(unknown)) }
            state.clients.append(client)
            return .added
        }
    }
}
