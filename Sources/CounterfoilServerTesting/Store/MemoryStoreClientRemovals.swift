import CounterfoilProtocol
import CounterfoilServer

extension MemoryStore.State {
    /// A deleted client, and the number of its records that a store with a database would still have.
    struct ClientLeftovers {
        let id: ClientIdentifier
        var rows: Int
    }

    /// Returns true if a deleted client with this identifier has records that are not deleted yet.
    func isBeingRemoved(_ id: ClientIdentifier) -> Bool { clientRemovals.contains { $0.id == id } }

    /// Deletes a client like ``removeClient(_:atMost:)``, and remembers its identifier if a person registered it.
    @discardableResult
    mutating func removeClientForGood(_ id: ClientIdentifier, atMost rows: inout Int) -> Bool {
        let isUnregistered = clients.first { $0.id == id }?.isUnregistered ?? false
        guard removeClient(id, atMost: &rows) else { return false }
        if !isUnregistered { removedClients.insert(id) }
        return true
    }

    /// Deletes clients like ``removeClient(_:atMost:)``, with the records of one commit.
    mutating func removeClients(_ ids: [ClientIdentifier]) {
        var rows = ClientRemoval.rowsAtOnce
        for id in ids { _ = removeClient(id, atMost: &rows) }
    }

    /// Deletes a client with all its records; returns false if the client does not exist.
    ///
    /// If a database would not delete all of them in one commit, the identifier stays taken until `continueRemovals`
    /// has counted the others.
    mutating func removeClient(_ id: ClientIdentifier, atMost rows: inout Int) -> Bool {
        guard let index = clients.firstIndex(where: { $0.id == id }) else { return false }
        let removed = clients.remove(at: index)
        let count = rowCount(of: id)
        let ended = Set(grants.values.filter { $0.clientID == id }.map(\.id))
        for code in codes.values where ended.contains(code.grantID) {
            interactions[code.interaction] = nil
            contestedCodes.remove(code.digest)
            codes[code.digest] = nil
        }
        devices = devices.filter { $0.value.clientID != id }
        for grant in ended { grants[grant] = nil }
        for family in refreshFamilies.values where ended.contains(family.grantID) {
            refreshFamilies[family.digest] = nil
        }
        refreshStatistics[id] = nil
        deliveries.removeAll { $0.delivery.clientID == id }
        pushedRequests = pushedRequests.filter { $0.value.clientID != id }
        for key in consents.keys where key.client == id { consents[key] = nil }
        clientSecrets.removeAll { $0.clientID == id }
        pkceExceptions[id] = nil
        removeLogoIfUnused(removed.presentation.logo)
        if count >= rows { clientRemovals.append(ClientLeftovers(id: id, rows: count - rows)) }
        rows -= min(count, rows)
        return true
    }

    /// Counts records of deleted clients as deleted, in the order of their deletion, and returns their number.
    ///
    /// A client without further records counts as one row.
    mutating func continueClientRemoval(atMost rows: Int) -> Int {
        var left = rows
        while left > 0, let removal = clientRemovals.first {
            guard removal.rows < left else {
                clientRemovals[0].rows -= left
                return rows
            }
            clientRemovals.removeFirst()
            left -= removal.rows + 1
        }
        return rows - left
    }

    /// Counts the records of a client that ``ClientRemoval/rowsAtOnce`` limits.
    private func rowCount(of id: ClientIdentifier) -> Int {
        grants.values.count { $0.clientID == id } + consents.keys.count { $0.client == id }
            + devices.values.count { $0.clientID == id } + pushedRequests.values.count { $0.clientID == id }
            + deliveries.count { $0.delivery.clientID == id }
    }
}
