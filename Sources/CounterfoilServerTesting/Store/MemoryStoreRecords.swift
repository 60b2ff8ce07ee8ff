// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: ResourceStore {
    public func resources() async throws(StoreFault) -> [RegisteredResource] {
        state.withLock { $0.resources.sorted { $0.resource.rawValue < $1.resource.rawValue } }
    }

    public func resource(_ resource: Resource) async throws(StoreFault) -> RegisteredResource? {
        state.withLock { $0.resources.first { $0.resource == resource } }
    }

    public func resource(authenticatingAs id: ClientIdentifier) async throws(StoreFault) -> RegisteredResource? {
        state.withLock { $0.resources.first { $0.clientID == id } }
    }

    public func addResource(
        _ resource: RegisteredResource, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddResourceOutcome {
        commit(recording: events) { state in
            let unknown = Scope(resource.scope.tokens.filter { state.scopes[$0] == nil })
            guard unknown.isEmpty else { return .unknownScopes(unknown) }
            let isTaken = state.resources.contains {
                $0.resource == resource.resource || $0.clientID == resource.clientID
            }
            guard !isTaken else { return .exists }
            state.resources.append(resource)
            return .added
        }
    }

    public func updateResource(
        _ resource: RegisteredResource, from former: RegisteredResource, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateResourceOutcome {
        commit(recording: events) { state in
            guard let index = state.resources.firstIndex(where: { $0.resource == former.resource }) else {
                return .notFound
            }
            guard state.resources[index] == former else { return .changedMeanwhile }
            let unknown = Scope(resource.scope.tokens.filter { state.scopes[$0] == nil })
            guard unknown.isEmpty else { return .unknownScopes(unknown) }
            state.resources[index] = resource
            return .updated
        }
    }

    @discardableResult
    public func replaceSecret(
        of resource: Resource, with secret: ArtefactDigest, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        commit(recording: events) { state in
            guard let index = state.resources.firstIndex(where: { $0.resource == resource }) else { return false }
            state.resources[index].secret = secret
            return true
        }
    }

    @discardableResult
    public func removeResource(_ resource: Resource, recording events: [AuditEvent]) async throws(StoreFault) -> Bool {
        commit(recording: events) { state in
            guard let index = state.resources.firstIndex(where: { $0.resource == resource }) else { return false }
            state.resources.remove(at: index)
            return true
        }
    }
}

extension MemoryStore: AuditStore {
    public func appendAudit(_ event: AuditEvent) async throws(StoreFault) { state.withLock { $0.append(event) } }

    public func audit(_ query: AuditQuery) async throws(StoreFault) -> [AuditEntry] {
        state.withLock { state in
            let wanted = state.audit.filter { entry in
                let event = entry.event
                return (query.kind == nil || event.kind == query.kind)
                    && (query.personID == nil || event.personID == query.personID)
                    && (query.clientID == nil || event.clientID == query.clientID)
                    && (query.outcome == nil || event.outcome == query.outcome)
                    && (query.source == nil || event.source == query.source)
                    && (query.requestID == nil || event.requestID == query.requestID)
                    && (query.since.map { event.at >= $0 } ?? true)
                    && (query.until.map { event.at < $0 } ?? true)
                    && (query.before.map { entry.position < $0 } ?? true)
            }
            return Array(wanted.sorted { $0.position > $1.position }.prefix(query.limit))
        }
    }

    public func auditLog(after position: AuditPosition?, limit: Int) async throws(StoreFault) -> [AuditEntry] {
        state.withLock { state in
            let later = state.audit.filter { entry in position.map { entry.position > $0 } ?? true }
            return Array(later.sorted { $0.position < $1.position }.prefix(limit))
        }
    }

    public func removeAudit(
        through position: AuditPosition, atMost rows: Int, recording event: AuditEvent?, with serverKey: ServerKey,
        at time: Date
    ) async throws(StoreFault) -> Int {
        let keys = AuditSealKeys(serverKey)
        return state.withLock { state in
            let last = min(position, .lastSettled(at: time))
            let removed = state.audit.filter { $0.position <= last }.sorted { $0.position < $1.position }.prefix(rows)
            let numbers = Set(removed.map(\.number))
            state.removeSeals(through: removed.count == rows ? removed.last?.position ?? last : last, with: keys)
            state.audit.removeAll { numbers.contains($0.number) }
            if let event, !numbers.isEmpty { state.append(event) }
            return numbers.count
        }
    }
}

extension MemoryStore: LogoutDeliveryStore {
    public func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery] {
        state.withLock { state in
            let parties = Dictionary(
                state.clients.map { ($0.id, LogoutParty(of: $0)) }, uniquingKeysWith: { $1 })
            var inFlight: [LogoutParty: Int] = [:]
            for (client, queue) in state.logoutQueues where queue.leasedUntil > now {
                if let party = parties[client] { inFlight[party, default: 0] += 1 }
            }
            let due = state.deliveries.filter { $0.dueAt <= now }.sorted { left, right in
                (left.dueAt, left.delivery.number) < (right.dueAt, right.delivery.number)
            }
            var taken: [LogoutDelivery] = []
            for pending in due where taken.count < limit {
                let former = pending.delivery
                var queue = state.logoutQueues[former.clientID] ?? LogoutQueue()
                guard queue.leasedUntil <= now, queue.pausedUntil <= now else { continue }
                if let party = parties[former.clientID] {
                    guard inFlight[party, default: 0] < LogoutDelivery.ownerLimit else { continue }
                    inFlight[party, default: 0] += 1
                }
                queue.leasedUntil = later
                state.logoutQueues[former.clientID] = queue
                taken.append(
                    LogoutDelivery(
                        number: former.number, clientID: former.clientID, subject: former.subject,
                        sessionID: former.sessionID, attempts: former.attempts, hostFailures: queue.hostFailures))
            }
            return taken
        }
    }

    @discardableResult
    public func settleLogoutDelivery(
        _ delivery: LogoutDelivery, _ settlement: LogoutDeliverySettlement
    ) async throws(StoreFault) -> Int {
        state.withLock { state in
            var queue = LogoutQueue()
            var givenUp = 0
            switch settlement {
            case .done: state.end(delivery, retryAt: nil)
            case .refused(let retryAt): givenUp = state.end(delivery, retryAt: retryAt)
            case .hostFailed(let retryAt, let pausedUntil, let removingBefore):
                givenUp = state.end(delivery, retryAt: retryAt)
                let before = state.deliveries.count
                state.deliveries.removeAll {
                    $0.delivery.clientID == delivery.clientID && $0.createdAt < removingBefore
                }
                givenUp += before - state.deliveries.count
                queue.pausedUntil = pausedUntil
                queue.hostFailures = delivery.hostFailures + 1
            case .untried(let dueAt):
                queue.pausedUntil = dueAt
                queue.hostFailures = delivery.hostFailures
            }
            let isEmpty = !state.deliveries.contains { $0.delivery.clientID == delivery.clientID }
            state.logoutQueues[delivery.clientID] = isEmpty ? nil : queue
            return givenUp
        }
    }

    public func logoutBacklog() async throws(StoreFault) -> LogoutBacklog {
        state.withLock { state in
            LogoutBacklog(count: state.deliveries.count, oldest: state.deliveries.map(\.createdAt).min())
        }
    }
}

extension MemoryStore.State {
    /// Postpones a delivery until `retryAt`, or deletes it if `retryAt` is nil.
    ///
    /// - Returns: 1 if a delivery was deleted, otherwise 0.
    @discardableResult
    fileprivate mutating func end(_ delivery: LogoutDelivery, retryAt: Date?) -> Int {
        guard let index = deliveries.firstIndex(where: { $0.delivery.number == delivery.number }) else { return 0 }
        guard let retryAt else {
            deliveries.remove(at: index)
            return 1
        }
        deliveries[index].delivery = LogoutDelivery(
            number: delivery.number, clientID: delivery.clientID, subject: delivery.subject,
            sessionID: delivery.sessionID, attempts: deliveries[index].delivery.attempts + 1)
        deliveries[index].dueAt = retryAt
        return 0
    }
}

extension MemoryStore: MaintenanceStore {
    public func takeMaintenanceLease(
        _ holder: LeaseHolder, until end: Date, at now: Date
    ) async throws(StoreFault) -> Bool {
        state.withLock { state in
            let latest = end + end.timeIntervalSince(now)
            if let lease = state.maintenanceLease, lease.holder != holder, lease.end > now, lease.end <= latest {
                return false
            }
            state.maintenanceLease = (holder, end)
            return true
        }
    }

    public func returnMaintenanceLease(_ holder: LeaseHolder) async throws(StoreFault) {
        state.withLock { state in
            if state.maintenanceLease?.holder == holder { state.maintenanceLease = nil }
        }
    }

    public func deleteExpired(
        _ limits: ExpirationLimits, atMost rows: Int
    ) async throws(StoreFault) -> Int {
        state.withLock { state in
            let codes = state.codes.values.filter { $0.expiresAt < limits.codesBefore }.prefix(rows)
            for code in codes {
                state.codes[code.digest] = nil
                state.contestedCodes.remove(code.digest)
                state.interactions[code.interaction] = nil
            }
            let sessions = state.sessions.values.filter {
                $0.expiresAt < limits.now || $0.lastSeenAt < limits.sessionsIdleBefore
            }.prefix(rows)
            for session in sessions { state.sessions[session.digest] = nil }
            let families = state.refreshFamilies.values.filter {
                $0.expiresAt < limits.now || $0.lastUsedAt < limits.refreshIdleBefore
            }.prefix(rows)
            for family in families {
                state.refreshFamilies[family.digest] = nil
                state.refreshAttempts[family.digest] = nil
            }
            let (withCode, withToken) = (
                Set(state.codes.values.map(\.grantID)), Set(state.refreshFamilies.values.map(\.grantID))
            )
            let named = Set(state.sessions.values.map(\.id))
            let told = Set(state.clients.filter { $0.backchannelLogoutURI != nil }.map(\.id))
            let grants = state.grants.values.filter { grant in
                let isRevoked = grant.revokedAt.map { $0 < limits.grantsBefore } ?? false
                return !withCode.contains(grant.id)
                    && (isRevoked
                        || grant.lastUsedAt < limits.grantsBefore && !withToken.contains(grant.id)
                            && !(told.contains(grant.clientID) && grant.sessionID.map(named.contains) ?? false))
            }.prefix(rows)
            for grant in grants {
                state.grants[grant.id] = nil
                for family in state.refreshFamilies.values where family.grantID == grant.id {
                    state.refreshFamilies[family.digest] = nil
                }
            }
            let assertions = state.assertions.filter { $0.value.expires < limits.now }.prefix(rows)
            for assertion in assertions { state.assertions[assertion.key] = nil }
            let pushed = state.pushedRequests.values.filter { $0.expiresAt < limits.now }.prefix(rows)
            for request in pushed { state.pushedRequests[request.digest] = nil }
            let devices = state.devices.values.filter {
                $0.expiresAt < limits.now - DeviceAuthorization.retention
            }.prefix(rows)
            for device in devices { state.devices[device.digest] = nil }
            let tokens = state.initialAccessTokens.filter { $0.expiresAt < limits.now }.prefix(rows)
            state.initialAccessTokens.removeAll { tokens.contains($0) }
            let clients = state.removeUnusedClients(limits, atMost: rows)
            return codes.count + sessions.count + families.count + grants.count + assertions.count + pushed.count
                + devices.count + tokens.count + clients
        }
    }
}

extension MemoryStore: ClientAssertionStore {
    public func noteAssertion(
        _ digest: ArtefactDigest, expires: Date, attempt: CommitAttempt, now: Date
    ) async throws(StoreFault) -> Bool {
        state.withLock { state in
            if let former = state.assertions[digest], former.expires >= now, former.attempt != attempt { return false }
            state.assertions[digest] = (expires, attempt)
            return true
        }
    }
}
