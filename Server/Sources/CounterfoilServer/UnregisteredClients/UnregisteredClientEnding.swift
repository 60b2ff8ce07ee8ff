@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

extension UnregisteredClientUseStore {
    /// Deletes every client of a family in several transactions, and returns their number and the appended events.
    ///
    /// - Parameters:
    ///   - family: The family.
    ///   - batch: The maximum number of clients in one transaction.
    ///   - event: Returns the event of one transaction for the number of clients that it deletes. Its time must be that
    ///     of the call, because the last transaction can follow the first after more than
    ///     `AuditPosition.settlingTime`.
    package func removeAllUnregisteredClients(
        of family: UnregisteredClientFamily, batch: Int, recording event: @escaping @Sendable (Int) -> AuditEvent
    ) async throws(StoreFault) -> (count: Int, events: [AuditEvent]) {
        var (removed, events) = (0, [AuditEvent]())
        while true {
            let appended = LastEvents()
            let last = try await removeUnregisteredClients(of: family, atMost: batch) { count in
                appended.set([event(count)])
            }
            removed += last
            if last > 0 { events += appended.value }
            guard last == batch else { return (removed, events) }
        }
    }
}

/// The events of the last attempt of a commit.
private final class LastEvents: Sendable {
    private let events = Mutex<[AuditEvent]>([])

    var value: [AuditEvent] { events.withLock { $0 } }

    func set(_ new: [AuditEvent]) -> [AuditEvent] {
        events.withLock { $0 = new }
        return new
    }
}

extension UnregisteredClientStore {
    /// Adds a host to those that the policy refuses, even if the policy changes at the same time, and even if it has a
    /// value that this version does not know.
    ///
    /// - Parameters:
    ///   - host: The host, which the policy may refuse already.
    ///   - event: Returns the event of the change for its description.
    /// - Returns: The outcome, and the event that was recorded if the outcome is a commit.
    package func refuseClients(
        of host: HostPattern, recording event: (String) -> AuditEvent
    ) async throws(StoreFault) -> (outcome: RefuseHostOutcome, event: AuditEvent) {
        let event = event("unregistered apps: refused_hosts with \(host)")
        return (try await refuseHost(host, recording: [event]), event)
    }
}

extension RegisteredClient {
    /// Returns the client of a document as a registered one.
    ///
    /// Its document is not fetched again, and neither are its keys: a developer changes them like those of every
    /// registered client. The policy may have changed since the last authorization, with which the store has the scope
    /// and the lifetimes of that time.
    ///
    /// - Parameters:
    ///   - policy: The current policy for unregistered clients, which determines the lifetimes and narrows the scope.
    ///   - definitions: The scopes of the server.
    package func adopted(
        under policy: UnregisteredClientPolicy, of definitions: [ScopeDefinition], now: Date
    ) -> RegisteredClient {
        var client = self
        let requestable = policy.requestableScope(of: definitions)
        client.scope = scope.intersection(requestable)
        client.optionalScope = optionalScope.intersection(requestable)
        client.policy.apply(policy, to: type)
        client.source = .console
        client.approval = .approved
        client.keysURI = nil
        client.changedAt = now
        return client
    }
}
