import CounterfoilProtocol
package import Foundation

extension UnregisteredClientUseStore {
    /// Deletes every client of a family in several transactions, and returns their number.
    package func removeAllUnregisteredClients(
        of family: UnregisteredClientFamily, batch: Int
    ) async throws(StoreFault) -> Int {
        var removed = 0
        while true {
            let last = try await removeUnregisteredClients(of: family, atMost: batch)
            removed += last
            guard last == batch else { return removed }
        }
    }
}

extension UnregisteredClientStore {
    /// Adds a host to those that the policy refuses, even if the policy changes at the same time, and even if it has a
    /// value that this version does not know.
    ///
    /// - Returns: The description of the change for the audit log; nil if the policy refused the host already.
    package func refuseClients(of host: HostPattern) async throws(StoreFault) -> String? {
        try await refuseHost(host, recording: []) ? "unregistered apps: refused_hosts with \(host)" : nil
    }
}

extension RegisteredClient {
    /// Returns the client of a document as a registered one.
    ///
    /// Its document is not fetched again, and neither are its keys: a developer changes them like those of every
    /// registered client.
    package func adopted(now: Date) -> RegisteredClient {
        var client = self
        client.source = .console
        client.keysURI = nil
        client.changedAt = now
        return client
    }
}
