public import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension FaultyStore: RefreshTokenStore {
    /// The line of a digest with its grant, person and application.
    public func refreshFacts(_ digest: ArtefactDigest) async throws(StoreFault) -> RefreshFacts? {
        try await enter(.refreshFacts)
        guard let facts = try await store.refreshFacts(digest) else { return nil }
        return RefreshFacts(
            family: facts.family, grant: facts.grant, person: seen(facts.person), client: facts.client,
            clientSecrets: facts.clientSecrets, resources: facts.resources)
    }

    /// Records a refresh.
    public func recordRefresh(
        _ facts: RefreshFacts, _ step: RefreshStep, now: Date
    ) async throws(StoreFault) -> RecordRefreshOutcome {
        try await enter(.recordRefresh)
        if isSwitchedOff(facts.person.id) { return .gone }
        return try await store.recordRefresh(facts, step, now: now)
    }

    /// What has become of the refresh tokens of an application.
    public func refreshStatistics(of client: ClientIdentifier) async throws(StoreFault) -> RefreshStatistics {
        try await enter(.refreshStatistics)
        return try await store.refreshStatistics(of: client)
    }

    /// What has become of the refresh tokens of every application together.
    public func refreshStatistics() async throws(StoreFault) -> RefreshStatistics {
        try await enter(.refreshStatistics)
        return try await store.refreshStatistics()
    }
}

extension FaultyStore: ResourceStore {
    /// Every API.
    public func resources() async throws(StoreFault) -> [RegisteredResource] {
        try await enter(.resources)
        return try await store.resources()
    }

    /// The API of an indicator.
    public func resource(_ resource: Resource) async throws(StoreFault) -> RegisteredResource? {
        try await enter(.resources)
        return try await store.resource(resource)
    }

    /// The API that authenticates by an identifier.
    public func resource(authenticatingAs id: ClientIdentifier) async throws(StoreFault) -> RegisteredResource? {
        try await enter(.resources)
        return try await store.resource(authenticatingAs: id)
    }

    /// Registers an API.
    public func addResource(_ resource: RegisteredResource) async throws(StoreFault) -> AddResourceOutcome {
        try await enter(.addResource)
        return try await store.addResource(resource)
    }

    /// Gives an API another secret.
    @discardableResult
    public func replaceSecret(of resource: Resource, with secret: ArtefactDigest) async throws(StoreFault) -> Bool {
        try await enter(.replaceSecret)
        return try await store.replaceSecret(of: resource, with: secret)
    }

    /// Takes an API away.
    @discardableResult
    public func removeResource(_ resource: Resource) async throws(StoreFault) -> Bool {
        try await enter(.removeResource)
        return try await store.removeResource(resource)
    }
}

extension FaultyStore: AuditStore {
    /// Notes an event.
    public func appendAudit(_ event: AuditEvent) async throws(StoreFault) {
        try await enter(.appendAudit)
        try await store.appendAudit(event)
    }

    /// The events that a query asks for.
    public func audit(_ query: AuditQuery) async throws(StoreFault) -> [AuditEntry] {
        try await enter(.audit)
        return try await store.audit(query)
    }

    /// The events after the one of a number.
    public func auditLog(after number: Int, limit: Int) async throws(StoreFault) -> [AuditEntry] {
        try await enter(.auditLog)
        return try await store.auditLog(after: number, limit: limit)
    }

    /// Deletes the oldest events.
    public func removeAudit(
        through number: Int, atMost rows: Int, recording event: AuditEvent?
    ) async throws(StoreFault) -> Int {
        try await enter(.removeAudit)
        return try await store.removeAudit(through: number, atMost: rows, recording: event)
    }
}

extension FaultyStore: LogoutDeliveryStore {
    /// Takes deliveries that are due.
    public func takeLogoutDeliveries(
        dueAt now: Date, until later: Date, limit: Int
    ) async throws(StoreFault) -> [LogoutDelivery] {
        try await enter(.takeLogoutDeliveries)
        return try await store.takeLogoutDeliveries(dueAt: now, until: later, limit: limit)
    }

    /// Records the outcome of a delivery.
    @discardableResult
    public func settleLogoutDelivery(
        _ delivery: LogoutDelivery, _ settlement: LogoutDeliverySettlement
    ) async throws(StoreFault) -> Int {
        try await enter(.settleLogoutDelivery)
        return try await store.settleLogoutDelivery(delivery, settlement)
    }

    /// The deliveries that wait.
    public func logoutBacklog() async throws(StoreFault) -> LogoutBacklog {
        try await enter(.logoutBacklog)
        return try await store.logoutBacklog()
    }
}

extension FaultyStore: HousekeepingStore {
    /// Removes what is over.
    public func removeWhatIsOver(
        _ limits: HousekeepingLimits, atMost rows: Int
    ) async throws(StoreFault) -> Int {
        try await enter(.removeWhatIsOver)
        return try await store.removeWhatIsOver(limits, atMost: rows)
    }

    /// Notes that an assertion was used.
    public func noteAssertion(
        _ digest: ArtefactDigest, expires: Date, now: Date
    ) async throws(StoreFault) -> Bool {
        try await enter(.noteAssertion)
        return try await store.noteAssertion(digest, expires: expires, now: now)
    }
}

extension FaultyStore: ServiceRecordStore {
    /// Records that the store answers.
    public func recordService(at now: Date, outageAfter silence: TimeInterval) async throws(StoreFault) {
        try await enter(.recordService)
        try await store.recordService(at: now, outageAfter: silence)
    }

    /// Reads when the store answered.
    public func serviceRecord(since start: Date) async throws(StoreFault) -> ServiceRecord {
        try await enter(.serviceRecord)
        return try await store.serviceRecord(since: start)
    }
}
