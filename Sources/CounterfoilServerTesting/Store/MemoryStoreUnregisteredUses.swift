// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
import Foundation

extension MemoryStore: UnregisteredClientUseStore {
    public func unregisteredClientHosts(
        after name: String?, limit: Int
    ) async throws(StoreFault) -> [UnregisteredClientHost] {
        state.withLock { state in
            let hosts = Set(state.clients.compactMap(\.documentHost)).sorted().filter { $0 > name ?? "" }
            return hosts.prefix(limit).map { UnregisteredClientHost(name: $0, count: state.count(of: .host($0))) }
        }
    }

    public func unregisteredClientCount(
        of family: UnregisteredClientFamily
    ) async throws(StoreFault) -> UnregisteredClientCount {
        state.withLock { $0.count(of: family) }
    }

    public func unregisteredClients(
        of family: UnregisteredClientFamily, after last: UnregisteredClientPlace?, limit: Int
    ) async throws(StoreFault) -> [UnregisteredClientUse] {
        state.withLock { state in
            let ordered = state.clients.filter { $0.isMember(of: family) }.sorted { $1.place < $0.place }
            let older = ordered.filter { client in last.map { client.place < ($0.createdAt, $0.id.rawValue) } ?? true }
            return older.prefix(limit).map { state.use(of: $0) }
        }
    }

    public func unregisteredClient(_ id: ClientIdentifier) async throws(StoreFault) -> UnregisteredClientUse? {
        state.withLock { state in
            state.clients.first { $0.id == id && $0.isUnregistered }.map { state.use(of: $0) }
        }
    }

    @discardableResult
    public func removeUnregisteredClient(
        _ id: ClientIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        commit(recording: events) { state in
            guard state.clients.contains(where: { $0.id == id && $0.isUnregistered }) else { return false }
            var rows = ClientRemoval.rowsAtOnce
            return state.removeClient(id, atMost: &rows)
        }
    }

    public func removeUnregisteredClients(
        of family: UnregisteredClientFamily, atMost limit: Int,
        recording events: @escaping @Sendable (Int) -> [AuditEvent]
    ) async throws(StoreFault) -> Int {
        state.withLock { state in
            let members = state.clients.filter { $0.isMember(of: family) }.prefix(limit)
            state.removeClients(members.map(\.id))
            if !members.isEmpty { state.append(events(members.count)) }
            return members.count
        }
    }
}

extension RegisteredClient {
    /// The place in the list of a family, which is ordered by time.
    fileprivate var place: (Date, String) { (createdAt, id.rawValue) }
}

extension MemoryStore.State {
    fileprivate func count(of family: UnregisteredClientFamily) -> UnregisteredClientCount {
        let members = clients.filter { $0.isMember(of: family) }.prefix(UnregisteredClientCount.limit)
        return UnregisteredClientCount(
            clients: members.count,
            unused: members.count { member in !consents.keys.contains { $0.client == member.id } })
    }

    fileprivate func use(of client: RegisteredClient) -> UnregisteredClientUse {
        let allowed = consents.filter { $0.key.client == client.id }.values.prefix(UnregisteredClientUse.consentLimit)
        return UnregisteredClientUse(
            client: client, users: allowed.count,
            lastUsedAt: allowed.compactMap(\.lastUsedAt).max(),
            scope: Scope(allowed.flatMap(\.scope.tokens).sorted { $0.rawValue < $1.rawValue }))
    }
}
