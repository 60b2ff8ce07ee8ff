// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension FaultyStore: RefreshTokenStore {
    public func refreshFacts(_ digest: ArtefactDigest) async throws(StoreFault) -> RefreshFacts? {
        try await enter(.refreshFacts)
        guard let facts = try await store.refreshFacts(digest) else { return nil }
        return RefreshFacts(family: facts.family, grant: facts.grant, person: seen(facts.person))
    }

    public func recordRefresh(
        _ facts: RefreshFacts, _ step: RefreshStep, attempt: CommitAttempt, now: Date,
        recording events: [AuditEvent]
    ) async throws(StoreFault) -> RecordRefreshOutcome {
        try await commit(.recordRefresh) { () async throws(StoreFault) in
            if isSwitchedOff(facts.person.id) { return .gone }
            return try await store.recordRefresh(facts, step, attempt: attempt, now: now, recording: events)
        }
    }

    public func refreshStatistics(of client: ClientIdentifier) async throws(StoreFault) -> RefreshStatistics {
        try await enter(.refreshStatistics)
        return try await store.refreshStatistics(of: client)
    }

    public func refreshStatistics() async throws(StoreFault) -> RefreshStatistics {
        try await enter(.refreshStatistics)
        return try await store.refreshStatistics()
    }
}

extension FaultyStore: ResourceStore {
    public func addResource(
        _ resource: RegisteredResource, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddResourceOutcome {
        try await enter(.addResource)
        return try await store.addResource(resource, recording: events)
    }

    public func updateResource(
        _ resource: RegisteredResource, from former: RegisteredResource, recording events: [AuditEvent]
    ) async throws(StoreFault) -> UpdateResourceOutcome {
        try await enter(.updateResource)
        return try await store.updateResource(resource, from: former, recording: events)
    }

    @discardableResult
    public func replaceSecret(
        of resource: Resource, with secret: ArtefactDigest, recording events: [AuditEvent]
    ) async throws(StoreFault) -> Bool {
        try await enter(.replaceSecret)
        return try await store.replaceSecret(of: resource, with: secret, recording: events)
    }

    @discardableResult
    public func removeResource(_ resource: Resource, recording events: [AuditEvent]) async throws(StoreFault) -> Bool {
        try await enter(.removeResource)
        return try await store.removeResource(resource, recording: events)
    }
}

extension FaultyStore: AuditStore {
    public func appendAudit(_ event: AuditEvent) async throws(StoreFault) {
        try await enter(.appendAudit)
        try await store.appendAudit(event)
    }

    public func audit(_ query: AuditQuery) async throws(StoreFault) -> [AuditEntry] {
        try await enter(.audit)
        return try await store.audit(query)
    }

    public func auditLog(after position: AuditPosition?, limit: Int) async throws(StoreFault) -> [AuditEntry] {
        try await enter(.auditLog)
        return try await store.auditLog(after: position, limit: limit)
    }

    public func removeAudit(
        through position: AuditPosition, atMost rows: Int, recording event: AuditEvent?, with serverKey: ServerKey,
        at time: Date
    ) async throws(StoreFault) -> Int {
        try await enter(.removeAudit)
        return try await store.removeAudit(
            through: position, atMost: rows, recording: event, with: serverKey, at: time)
    }
}

extension FaultyStore: AuditSealStore {
    public func auditChainEnds() async throws(StoreFault) -> AuditChainEnds {
        try await enter(.sealedAudit)
        return try await store.auditChainEnds()
    }

    public func unsealedAudit(
        after position: AuditPosition?, limit: Int
    ) async throws(StoreFault) -> [AuditRecord] {
        try await enter(.sealedAudit)
        return try await store.unsealedAudit(after: position, limit: limit)
    }

    public func sealedAudit(after seal: Int, limit: Int) async throws(StoreFault) -> [SealedAuditRecord] {
        try await enter(.sealedAudit)
        return try await store.sealedAudit(after: seal, limit: limit)
    }

    public func sealAudit(
        _ range: AuditSealRange?, continuing known: AuditHead?, checkedAt: Date?, with serverKey: ServerKey,
        at time: Date
    ) async throws(StoreFault) -> AuditSealOutcome {
        try await enter(.sealAudit)
        return try await store.sealAudit(
            range, continuing: known, checkedAt: checkedAt, with: serverKey, at: time)
    }
}

extension FaultyStore: LogoutDeliveryStore {
    public func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery] {
        try await enter(.takeLogoutDeliveries)
        return try await store.takeLogoutDeliveries(dueAt: now, until: later, limit: limit)
    }

    @discardableResult
    public func settleLogoutDelivery(
        _ delivery: LogoutDelivery, _ settlement: LogoutDeliverySettlement
    ) async throws(StoreFault) -> Int {
        try await enter(.settleLogoutDelivery)
        return try await store.settleLogoutDelivery(delivery, settlement)
    }

    public func logoutBacklog() async throws(StoreFault) -> LogoutBacklog {
        try await enter(.logoutBacklog)
        return try await store.logoutBacklog()
    }
}

extension FaultyStore: MaintenanceStore {
    public func takeMaintenanceLease(
        _ holder: LeaseHolder, until end: Date, at now: Date
    ) async throws(StoreFault) -> Bool {
        try await enter(.takeMaintenanceLease)
        return try await store.takeMaintenanceLease(holder, until: end, at: now)
    }

    public func returnMaintenanceLease(_ holder: LeaseHolder) async throws(StoreFault) {
        try await enter(.returnMaintenanceLease)
        try await store.returnMaintenanceLease(holder)
    }

    public func deleteExpired(
        _ limits: ExpirationLimits, atMost rows: Int
    ) async throws(StoreFault) -> Int {
        try await enter(.deleteExpired)
        return try await store.deleteExpired(limits, atMost: rows)
    }
}

extension FaultyStore: ClientAssertionStore {
    public func noteAssertion(
        _ digest: ArtefactDigest, expires: Date, attempt: CommitAttempt, now: Date
    ) async throws(StoreFault) -> Bool {
        try await commit(.noteAssertion) { () async throws(StoreFault) in
            try await store.noteAssertion(digest, expires: expires, attempt: attempt, now: now)
        }
    }
}

extension FaultyStore: PushedRequestStore {
    public func addPushedRequest(
        _ request: PushedRequest, within limits: PushedRequestLimits
    ) async throws(StoreFault) -> AddPushedRequestOutcome {
        try await enter(.addPushedRequest)
        return try await store.addPushedRequest(request, within: limits)
    }

    public func openPushedRequest(
        _ digest: ArtefactDigest, of client: ClientIdentifier, at now: Date, until later: Date
    ) async throws(StoreFault) -> PushedRequest? {
        try await enter(.openPushedRequest)
        return try await store.openPushedRequest(digest, of: client, at: now, until: later)
    }

    @discardableResult
    public func removePushedRequest(_ digest: ArtefactDigest) async throws(StoreFault) -> Bool {
        try await enter(.removePushedRequest)
        return try await store.removePushedRequest(digest)
    }
}

extension FaultyStore: StoreClock {
    public func now() -> Date { store.now() }
}

extension FaultyStore: ServiceRecordStore {
    public func recordService(at now: Date, outageAfter silence: TimeInterval) async throws(StoreFault) {
        try await enter(.recordService)
        try await store.recordService(at: now, outageAfter: silence)
    }

    public func takeUpSpace() async throws(StoreFault) {
        try await enter(.takeUpSpace)
        try await store.takeUpSpace()
    }

    public func serviceRecord(since start: Date) async throws(StoreFault) -> ServiceRecord {
        try await enter(.serviceRecord)
        return try await store.serviceRecord(since: start)
    }
}
