// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer

extension FaultyStore: UnregisteredClientUseStore {
    public func unregisteredClientHosts(
        after name: String?, limit: Int
    ) async throws(StoreFault) -> [UnregisteredClientHost] {
        try await enter(.unregisteredClients)
        return try await store.unregisteredClientHosts(after: name, limit: limit)
    }

    public func unregisteredClientCount(
        of family: UnregisteredClientFamily
    ) async throws(StoreFault) -> UnregisteredClientCount {
        try await enter(.unregisteredClients)
        return try await store.unregisteredClientCount(of: family)
    }

    public func unregisteredClients(
        of family: UnregisteredClientFamily, after last: UnregisteredClientPlace?, limit: Int
    ) async throws(StoreFault) -> [UnregisteredClientUse] {
        try await enter(.unregisteredClients)
        return try await store.unregisteredClients(of: family, after: last, limit: limit)
    }

    public func unregisteredClient(_ id: ClientIdentifier) async throws(StoreFault) -> UnregisteredClientUse? {
        try await enter(.unregisteredClients)
        return try await store.unregisteredClient(id)
    }

    @discardableResult
    public func removeUnregisteredClient(
        _ id: ClientIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await enter(.removeUnregisteredClients)
        return try await store.removeUnregisteredClient(id, recording: events)
    }

    public func removeUnregisteredClients(
        of family: UnregisteredClientFamily, atMost limit: Int,
        recording events: @escaping @Sendable (Int) -> [AuditEvent]
    ) async throws(StoreFault) -> Int {
        try await enter(.removeUnregisteredClients)
        return try await store.removeUnregisteredClients(of: family, atMost: limit, recording: events)
    }
}
