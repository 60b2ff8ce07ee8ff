import CounterfoilStore
import Foundation
import Logging

/// A service that deletes expired records, rotates signing keys and seals the audit log, in small steps that block no
/// request for long.
///
/// Several servers may run the service on one store. One of them has a lease and does the work; if it stops, another
/// one takes over after the end of the lease. No step fails if another server has already done its work.
public struct MaintenanceService: Sendable {
    /// The maximum number of rows of each kind that one step deletes.
    package static let batch = 200
    /// The pause after a step that deleted rows, in which other transactions can write.
    static let batchPause = Duration.milliseconds(50)
    /// The maximum number of steps of one kind in a round.
    package static let stepLimit = 100
    /// The number of steps of a long deletion of audit events after which new ones are sealed.
    private static let stepsUntilSeal = 50
    /// The pause after all expired records are deleted.
    static let idleInterval = Duration.seconds(60)
    /// The pause after a failure, longer than that of other servers, so that one of them takes the lease first.
    static let pauseAfterFailure = Duration.seconds(75)
    /// The length of the lease, in seconds; the server that has it renews it with each round.
    static let leaseLength: TimeInterval = 150

    private let currentSettings: CurrentSettings
    private let registry: CachedRegistry
    private let store: any UncachedStore
    private let keys: KeyRing
    private let rotation: KeyRotation
    private let auditor: Auditor
    private let metrics: ServerMetrics
    private let logger: Logger
    private let clock: @Sendable () -> Date
    private let holder: LeaseHolder
    private let serverKey: ServerKey
    private let sealer: AuditSealer

    init(
        settings: CurrentSettings, registry: CachedRegistry, store: any UncachedStore, keys: KeyRing,
        serverKey: ServerKey, holder: LeaseHolder, auditor: Auditor, metrics: ServerMetrics, logger: Logger,
        clock: @escaping @Sendable () -> Date
    ) {
        currentSettings = settings
        self.registry = registry
        self.store = store
        self.keys = keys
        self.holder = holder
        rotation = KeyRotation(store, serverKey: serverKey)
        self.auditor = auditor
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
        self.serverKey = serverKey
        sealer = AuditSealer(store: store, serverKey: serverKey, logger: logger)
    }

    private var settings: ServerSettings { currentSettings.value }

    /// Runs until its task is cancelled.
    ///
    /// If the store fails, the service tries again after a moment; the server keeps running.
    public func run() async {
        while !Task.isCancelled {
            do {
                if try await runRound() { continue }
                try await sealUntilNextRound()
            } catch is CancellationError {
                break
            } catch {
                metrics.count(.maintenanceFailure)
                logger.error("maintenance failed", metadata: ["error": "\(error)"])
                // Another server may be able to do the work.
                sealer.isActive = false
                try? await store.returnMaintenanceLease(holder)
                do { try await Task.sleep(for: Self.pauseAfterFailure) } catch { break }
            }
        }
        _ = try? await sealer.sealRecent(at: clock())
        // Another server can then continue at once; otherwise it does so after the end of the lease.
        try? await store.returnMaintenanceLease(holder)
        // The number of events that were left out in a minute is recorded only after the end of that minute. With a
        // time in the next minute, the number of the current minute is recorded too. It would otherwise be lost.
        await auditor.noteSummaries(now: clock().addingTimeInterval(60))
    }

    /// Waits for the next round, and seals new events of the audit log meanwhile.
    ///
    /// A failure is reported by the next round, which does the same.
    private func sealUntilNextRound() async throws {
        let end = ContinuousClock.now + Self.idleInterval
        while ContinuousClock.now < end {
            try await Task.sleep(for: AuditSealer.interval)
            _ = try? await sealer.sealRecent(at: clock())
        }
    }

    /// Seals every event of the audit log that has no seal.
    ///
    /// - Returns: The number of sealed events.
    @discardableResult
    package func sealAudit() async throws -> Int { try await sealer.sealAll(at: clock()) }

    /// Carries out each kind of work, with a limited number of deletions.
    ///
    /// Many records of one deleted client therefore do not delay the rotation of keys, nor other deletions.
    ///
    /// If another server has the lease, nothing is deleted.
    ///
    /// - Parameter steps: The maximum number of steps that delete expired records, and of those that delete records of
    ///   deleted users and clients.
    /// - Returns: True if there may be more to do.
    package func runRound(steps: Int = Self.stepLimit) async throws -> Bool {
        let now = clock()
        sealer.isActive = try await store.takeMaintenanceLease(holder, until: now + Self.leaseLength, at: now)
        guard sealer.isActive else {
            try await keys.follow(logger: logger)
            await auditor.noteSummaries(now: clock())
            return false
        }
        try await maintainKeys()
        try await registerAdministrationAPI()
        try await renewSecondFactors(steps)
        try await WebhookSealing(store: store, serverKey: serverKey).renew()
        let limits = try await limits()
        let isMoreExpired = try await take(steps) { try await removeBatch(limits) }
        let isMoreRemoved = try await take(steps) { try await continueRemovals() }
        await auditor.noteSummaries(now: clock())
        try await sealAudit()
        try await removeOldAuditEvents()
        return isMoreExpired || isMoreRemoved || sealer.hasMore
    }

    /// Encrypts the secrets of second factors with the current server key.
    private func renewSecondFactors(_ steps: Int) async throws {
        let sealing = SecondFactorSealing(store: store, serverKey: serverKey)
        var last: UserIdentifier?
        for _ in 0..<steps {
            last = try await sealing.renew(after: last, limit: Self.batch)
            guard last != nil else { return }
            try await Task.sleep(for: Self.batchPause)
        }
    }

    /// Takes steps until one deletes nothing; returns true if the last one deleted something.
    private func take(_ steps: Int, _ step: () async throws -> Int) async throws -> Bool {
        for _ in 0..<steps {
            guard try await step() > 0 else { return false }
            try await Task.sleep(for: Self.batchPause)
        }
        return true
    }

    /// Deletes all expired records, and all records of deleted users and clients.
    ///
    /// - Returns: The number of deleted rows.
    @discardableResult
    package func deleteAllExpired() async throws -> Int {
        let limits = try await limits()
        var removed = 0
        while true {
            let batch = try await removeBatch(limits) + continueRemovals()
            guard batch > 0 else { return removed }
            removed += batch
        }
    }

    /// Rotates old signing keys, deletes the replaced keys whose tokens have all expired, and reloads the keys
    /// that other processes have changed.
    package func maintainKeys() async throws {
        let now = clock()
        let lifetime = TimeInterval(settings.keyLifetime) * 86_400
        let rotated: (SealedSigningKey) -> AuditEvent = { key in
            AuditEvent(at: now, .signingKey, detail: "\(key.algorithm) rotated by age; the new key is \(key.id)")
        }
        for key in try await rotation.rotateExpiredKeys(lifetime: lifetime, recording: rotated, now: now) {
            logger.notice(
                "created a signing key",
                metadata: [
                    "kid": "\(key.id)", "alg": "\(key.algorithm)", "signs_from": "\(key.signsFrom.formatted(.iso8601))",
                ])
            auditor.countRecorded(rotated(key))
        }
        let deleted: @Sendable (Int) -> AuditEvent = { count in
            AuditEvent(
                at: now, .signingKey, detail: "deleted signing keys whose tokens have all expired: \(count)")
        }
        let removed = try await rotation.deleteExpired(recording: deleted, now: now)
        if removed > 0 {
            logger.notice(
                "deleted signing keys whose tokens have all expired", metadata: ["count": "\(removed)"])
            auditor.countRecorded(deleted(removed))
        }
        try await keys.follow(logger: logger)
    }

    /// Registers the administration API with its scopes, if the server has it and something is missing.
    package func registerAdministrationAPI() async throws {
        try await AdministrationAPIRegistration(settings: settings, registry: registry, store: store, auditor: auditor)
            .complete(now: clock())
    }

    /// The time in seconds for which an audit event is kept beyond its retention, if a webhook has not got it: 30 days.
    static let webhookReserve: TimeInterval = 30 * 86_400

    /// Deletes the audit events whose retention period has ended.
    ///
    /// An event that a webhook has not got is kept for longer, up to ``webhookReserve``.
    ///
    /// - Returns: The number of deleted events.
    @discardableResult
    package func removeOldAuditEvents() async throws -> Int {
        guard let days = settings.auditRetention else { return 0 }
        let now = clock()
        // Retention ends at midnight UTC. Events are therefore deleted once a day, and the audit log gets one removal
        // event a day and not one a minute.
        let today = (now.timeIntervalSince1970 / 86_400).rounded(.down)
        var end = Date(timeIntervalSince1970: (today - TimeInterval(days)) * 86_400)
        if let held = try await store.webhookProgress().oldestHeld {
            // An event that is sealed later can be earlier by the settling time.
            let first = held.addingTimeInterval(-AuditPosition.settlingTime)
            end = max(end.addingTimeInterval(-Self.webhookReserve), min(end, first))
        }
        var (removed, steps) = (0, 0)
        while true {
            steps += 1
            if steps.isMultiple(of: Self.stepsUntilSeal), sealer.isActive {
                let now = clock()
                sealer.isActive = try await store.takeMaintenanceLease(holder, until: now + Self.leaseLength, at: now)
                guard sealer.isActive else { return removed }
                try await sealer.sealRecent(at: now)
            }
            let oldest = try await store.auditLog(after: nil, limit: Self.batch).prefix { $0.event.at < end }
            guard let last = oldest.last else { return removed }
            let event = AuditEvent(
                at: now, .auditRemoval,
                detail: "events from before \(end.formatted(.iso8601)), after a retention of \(days) days")
            let count = try await store.removeAudit(
                through: last.position, atMost: Self.batch, recording: removed == 0 ? event : nil, with: serverKey,
                at: now)
            guard count > 0 else { return removed }
            if removed == 0 { auditor.countRecorded(event) }
            removed += count
            metrics.add(count, to: .rowRemoved)
            try await Task.sleep(for: Self.batchPause)
        }
    }

    private func removeBatch(_ limits: ExpirationLimits) async throws(StoreFault) -> Int {
        let removed = try await store.deleteExpired(limits, atMost: Self.batch)
        metrics.add(removed, to: .rowRemoved)
        return removed
    }

    /// Continues the deletion of users and clients.
    private func continueRemovals() async throws(StoreFault) -> Int {
        let removed = try await store.continueRemovals(atMost: Self.batch)
        metrics.add(removed, to: .rowRemoved)
        return removed
    }

    private func limits() async throws(StoreFault) -> ExpirationLimits {
        // The policy of a client may keep its refresh tokens for longer than the settings of the server. That of an
        // unregistered client follows the owner's policy, whatever its record contains.
        let unregistered = try await idleLifetimeOfUnregistered()
        let idle = try await registry.fresh().longestRefreshIdleLifetime() ?? 0
        return ExpirationLimits(
            now: clock(), settings: settings, longestIdleLifetime: max(idle, unregistered),
            idleLifetimeOfUnregistered: unregistered,
            unusedLifetime: ExpirationLimits.lifetimeOfUnused(
                try await store.unregisteredClientCount(of: .registrations).unused,
                registrationsPerHour: settings.registrationsPerHour))
    }

    /// Reads the idle lifetime of refresh tokens of unregistered clients: that of the policy for them, or else that of
    /// the settings.
    ///
    /// If this version cannot use the policy, because a newer one has written it, nothing is deleted before the longest
    /// lifetime that a policy can have.
    private func idleLifetimeOfUnregistered() async throws(StoreFault) -> Int {
        do {
            return try await registry.fresh().unregisteredClientPolicy().refreshIdleLifetime
                ?? settings.refreshTokenIdleLifetime
        } catch .unsupported {
            return ClientRules.refreshIdleLifetimes.upperBound
        }
    }
}

extension ExpirationLimits {
    private static let week = 7 * 86_400

    /// Returns the time in seconds after which unregistered clients without a user are deleted: a week.
    ///
    /// If half of the places for such clients are taken, the time is so short that registrations at their limit cannot
    /// take the other half. So a flood stops no registration, however long it lasts.
    package static func lifetimeOfUnused(_ unused: Int, registrationsPerHour: Int) -> Int {
        let places = RegistrationEndpoint.unusedLimit / 2
        return unused < places ? week : min(week, max(3600, places * 3600 / max(1, registrationsPerHour)))
    }

    /// Computes the limits at a given time from the settings of a server.
    ///
    /// - Parameters:
    ///   - longestIdleLifetime: The longest idle lifetime of refresh tokens in the policy of any client, in seconds.
    ///   - idleLifetimeOfUnregistered: The one of unregistered clients, which are not deleted before.
    ///   - unusedLifetime: The time after which unregistered clients without a user are deleted, in seconds.
    init(
        now: Date, settings: ServerSettings, longestIdleLifetime: Int, idleLifetimeOfUnregistered: Int = 0,
        unusedLifetime: Int = week
    ) {
        func ago(_ seconds: Int) -> Date { now.addingTimeInterval(-TimeInterval(seconds)) }
        let day = 86_400
        self.init(
            now: now,
            // A code is kept while the consent page that produced it is valid, so that the page cannot be
            // answered twice. It is kept for another day so that a second redemption is detected.
            codesBefore: ago(settings.pageLifetime + day),
            sessionsIdleBefore: ago(settings.sessionIdleLifetime),
            refreshIdleBefore: ago(
                max(settings.refreshTokenIdleLifetime, settings.sessionIdleLifetime, longestIdleLifetime)),
            // The longest lifetime of an access token is a day; the second day allows for clock skew.
            grantsBefore: ago(2 * day),
            unusedClientsBefore: ago(unusedLifetime),
            idleClientsBefore: ago(max(90 * day, idleLifetimeOfUnregistered)))
    }
}
