// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore {
    public func beginRemoval(
        of person: PersonIdentifier, by terms: RemovalTerms,
        recording events: @escaping @Sendable ([ClientIdentifier]) -> [AuditEvent], at time: Date
    ) async throws(StoreFault) -> BeginRemovalOutcome {
        state.withLock { state in
            guard let removed = state.people[person] else { return .notFound }
            let others = state.people.values.filter { $0.id != person && $0.disabledAt == nil }
            guard !removed.isAdministrator || others.contains(where: \.isAdministrator) else {
                return .lastAdministrator
            }
            let owned = state.clients.filter { $0.owner == person }.sorted { $0.createdAt < $1.createdAt }.map(\.id)
            switch terms.ownedClients {
            case .refuse:
                guard owned.isEmpty else { return .ownsClients(owned) }
            case .delete(let named):
                let others = owned.filter { !named.contains($0) }
                guard others.isEmpty else { return .ownsClients(others) }
                var rows = ClientRemoval.rowsAtOnce
                for client in owned { state.removeClientForGood(client, atMost: &rows) }
            case .transfer(let owner):
                guard owner != person, state.people[owner] != nil else { return .newOwnerNotFound }
                for index in state.clients.indices where state.clients[index].owner == person {
                    state.clients[index].owner = owner
                    state.clients[index].changedAt = time
                    state.clients[index].revision += 1
                }
            }
            state.queueLogouts(of: person, sealedAs: terms.sealedPersonID, at: time)
            state.sessions = state.sessions.filter { $0.value.personID != person }
            state.consents = state.consents.filter { $0.key.person != person }
            state.removeGrants(of: person)
            state.people[person] = nil
            state.removals.append(
                RemovedPerson(
                    id: person, pseudonym: terms.pseudonym, username: removed.username.rawValue,
                    email: removed.email?.rawValue, displayName: removed.displayName))
            state.append(events(owned))
            return .begun(owned)
        }
    }

    public func continueRemovals(atMost rows: Int) async throws(StoreFault) -> Int {
        state.withLock { state in
            let rows = max(1, rows)
            guard let removed = state.removals.first else { return state.continueClientRemoval(atMost: rows) }
            let events = state.audit.indices.filter { state.audit[$0].event.personID == removed.id }.prefix(rows)
            for index in events {
                let entry = state.audit[index]
                state.audit[index] = AuditEntry(number: entry.number, event: removed.pseudonymized(entry.event))
                state.forgetSalts(of: state.audit[index])
            }
            guard events.count < rows else { return rows }
            state.pushedRequests = state.pushedRequests.filter { !removed.isNamed(in: $0.value) }
            state.removals.removeFirst()
            return events.count + 1
        }
    }

    public func unreadableRecords(of person: PersonIdentifier) async throws(StoreFault) -> [UnreadableRecord] { [] }

    public func grants(
        of person: PersonIdentifier, after last: Grant?, limit: Int
    ) async throws(StoreFault) -> [GrantWithTokens] {
        state.withLock { state in
            func place(_ grant: Grant) -> (String, String) { (grant.clientID.rawValue, grant.id.rawValue) }
            let start = last.map(place) ?? ("", "")
            let page = state.grants.values.filter { $0.personID == person && place($0) > start }
                .sorted { place($0) < place($1) }.prefix(limit)
            return page.map { grant in
                GrantWithTokens(
                    grant: grant, family: state.refreshFamilies.values.first { $0.grantID == grant.id })
            }
        }
    }

    public func consents(
        of person: PersonIdentifier, after last: ClientIdentifier?, limit: Int
    ) async throws(StoreFault) -> [ConsentFacts] {
        let facts = try await consents(of: person).filter { $0.client.id.rawValue > last?.rawValue ?? "" }
        return Array(facts.sorted { $0.client.id.rawValue < $1.client.id.rawValue }.prefix(limit))
    }
}

extension MemoryStore.State {
    /// Appends an event; if its user was deleted in the meantime, without what identifies the user.
    mutating func append(_ event: AuditEvent) {
        var event = event
        if let person = event.personID, !person.isPseudonym, people[person] == nil {
            let removed = removals.first { $0.id == person }
            event = removed?.pseudonymized(event) ?? event.withoutPerson
        }
        auditCount += 1
        audit.append(AuditEntry(number: auditCount, event: event))
    }

    /// Appends the events of one commit.
    mutating func append(_ events: [AuditEvent]) {
        for event in events { append(event) }
    }

    /// Queues a logout notification for each client and session of the active grants of a user, and replaces the user
    /// in the queued ones.
    fileprivate mutating func queueLogouts(of person: PersonIdentifier, sealedAs sealed: [UInt8], at time: Date) {
        let subject = LogoutSubject.removed(sealed: sealed)
        for index in deliveries.indices where deliveries[index].delivery.subject == .person(person) {
            let former = deliveries[index].delivery
            deliveries[index].delivery = LogoutDelivery(
                number: former.number, clientID: former.clientID, subject: subject, sessionID: former.sessionID,
                attempts: former.attempts, hostFailures: former.hostFailures)
        }
        let notified = Set(clients.filter { $0.backchannelLogoutURI != nil }.map(\.id))
        var queued: Set<[String]> = []
        for grant in grants.values
        where grant.personID == person && grant.revokedAt == nil && !grantsOfEndedSessions.contains(grant.id) {
            guard let session = grant.sessionID, notified.contains(grant.clientID),
                queued.insert([grant.clientID.rawValue, session.rawValue]).inserted
            else { continue }
            deliveryCount += 1
            deliveries.append(
                MemoryStore.PendingDelivery(
                    delivery: LogoutDelivery(
                        number: deliveryCount, clientID: grant.clientID, subject: subject, sessionID: session,
                        attempts: 0),
                    dueAt: time))
        }
    }

    /// Deletes the grants of a user with their codes and token families.
    fileprivate mutating func removeGrants(of person: PersonIdentifier) {
        let ended = Set(grants.values.filter { $0.personID == person }.map(\.id))
        for code in codes.values where ended.contains(code.grantID) {
            interactions[code.interaction] = nil
            codes[code.digest] = nil
        }
        refreshFamilies = refreshFamilies.filter { !ended.contains($0.value.grantID) }
        grants = grants.filter { !ended.contains($0.key) }
        grantsOfEndedSessions.subtract(ended)
    }
}
