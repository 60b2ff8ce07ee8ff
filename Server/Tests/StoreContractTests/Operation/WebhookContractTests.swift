import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: webhooks")
struct WebhookContractTests {
    private static func webhook(
        _ host: String, cursor: Int = 0, state: Webhook.State = .active
    ) throws -> Webhook {
        Webhook(
            url: try AbsoluteURI(parsing: "https://\(host).example.com/events"), label: host,
            types: ["user.created", "user.deleted"], sealedSecret: [1, 2, 3], state: state, createdAt: World.now,
            cursor: cursor)
    }

    private static func attempt(_ seal: Int, status: Int?, at seconds: TimeInterval = 0) -> WebhookAttempt {
        WebhookAttempt(
            seal: seal, eventID: "evt_\(seal)", type: "user.created", at: World.now + seconds, milliseconds: 7,
            status: status, failure: status == nil ? "timed-out" : nil)
    }

    /// Appends events at some seconds, and seals them.
    private static func append(_ seconds: [TimeInterval], to store: any AuthorizationServerStore) async throws {
        for second in seconds {
            try await store.appendAudit(
                AuditEvent(at: World.now + second, .account, detail: "\(second)", action: .userCreated))
        }
        try await AuditSealContractTests.seal(store, at: World.now + (seconds.max() ?? 0))
    }

    private static func take(
        _ store: any AuthorizationServerStore, by holder: LeaseHolder, at seconds: TimeInterval = 1
    ) async throws -> [TakenWebhook] {
        try await store.takeWebhooks(
            by: holder, dueAt: World.now + seconds, until: World.now + seconds + 60, limit: 9)
    }

    @Test(arguments: StoreKind.allCases)
    func `the action of an event is kept, and sealed with it`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            try await Self.append([0], to: store)
            try await store.appendAudit(AuditEvent(at: World.now + 1, .signIn, .refused, action: .userCreated))
            try await AuditSealContractTests.seal(store)
            let sealed = try await store.sealedAudit(after: 0, limit: 9)
            #expect(sealed.map { $0.record?.action } == ["user.created", nil])
            #expect(try await AuditSealContractTests.verdict(store).findings == [])
            let changed = sealed[0].record.map { record in
                AuditRecord(
                    position: record.position, kind: record.kind, outcome: record.outcome, userID: record.userID,
                    clientID: record.clientID, grantID: record.grantID, source: record.source,
                    requestID: record.requestID, detail: record.detail, action: "user.deleted")
            }
            let keys = AuditSealKeys(try AuditSealContractTests.serverKey)
            let forged = try #require(changed)
            #expect(!keys.matches(forged, sealed[0].seal, key: 0))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `one server at a time has a webhook with events, until it returns it or its lease ends`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withBoth { store, other in
            let (first, second) = (LeaseHolder(), LeaseHolder())
            let webhook = try Self.webhook("photos")
            #expect(try await store.addWebhook(webhook, recording: []) == .added)
            #expect(try await store.addWebhook(try Self.webhook("paused", state: .paused), recording: []) == .added)
            #expect(try await Self.take(store, by: first).isEmpty)
            try await Self.append([0, 1], to: store)
            #expect(try await Self.take(store, by: first) == [TakenWebhook(webhook, resends: [])])
            #expect(try await Self.take(other, by: second).isEmpty)
            try await other.returnWebhook(webhook.id, by: second, at: World.now)
            #expect(try await Self.take(other, by: second, at: 60).isEmpty)
            // The first server has ended.
            #expect(try await Self.take(other, by: second, at: 61).count == 1)
            // Its request was accepted nevertheless, which is no event that the other one must send.
            let late = WebhookSettlement.passed(from: 0, to: 1, Self.attempt(1, status: 200))
            #expect(try await !store.settleWebhook(webhook.id, late, by: first))
            #expect(try await other.webhook(webhook.id)?.cursor == 1)
            // A cursor never goes back, nor over events that another server has not seen.
            #expect(try await other.settleWebhook(webhook.id, .passed(from: 0, to: 2, nil), by: second))
            #expect(try await other.webhook(webhook.id)?.cursor == 1)
            #expect(try await other.settleWebhook(webhook.id, .passed(from: 1, to: 2, nil), by: second))
            try await other.returnWebhook(webhook.id, by: second, at: World.now)
            #expect(try await Self.take(store, by: first, at: 62).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change ends the lease, and only an accepted event counts after it`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (holder, webhook) = (LeaseHolder(), try Self.webhook("photos"))
            #expect(try await store.addWebhook(webhook, recording: []) == .added)
            try await Self.append([0, 1, 2], to: store)
            #expect(try await Self.take(store, by: holder).count == 1)
            var changed = webhook
            changed.types = ["user.enabled"]
            #expect(
                try await store.updateWebhook(changed, from: webhook, at: World.now, recording: []) == .updated)
            // The events that the former types left out can be of the new ones.
            #expect(try await !store.settleWebhook(webhook.id, .passed(from: 0, to: 2, nil), by: holder))
            #expect(try await !store.settleWebhook(webhook.id, .missed(through: 2), by: holder))
            #expect(try await store.webhook(webhook.id)?.cursor == 0)
            let accepted = WebhookSettlement.passed(from: 0, to: 1, Self.attempt(1, status: 200))
            #expect(try await !store.settleWebhook(webhook.id, accepted, by: holder))
            let stored = try #require(try await store.webhook(webhook.id))
            #expect(stored.cursor == 1 && stored.missedThrough == nil)
            #expect(try await Self.take(store, by: LeaseHolder()).map(\.webhook.types) == [["user.enabled"]])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the webhook that was served last is taken last, and one of a newer version is left to it`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let holder = LeaseHolder()
            for name in ["newer", "photos", "albums"] {
                #expect(try await store.addWebhook(try Self.webhook(name), recording: []) == .added)
            }
            let newer = try #require(try await store.webhooks().first { $0.label == "newer" })
            try await store.database.engine.commit {
                try $0.send("UPDATE webhooks SET state = 'resting' WHERE id = ?", newer.id.rawValue)
            }
            try await Self.append([0], to: store)
            var taken: [String] = []
            for _ in 1...4 {
                let next = try #require(
                    try await store.takeWebhooks(
                        by: holder, dueAt: World.now + 9, until: World.now + 60, limit: 1
                    ).first?.webhook)
                taken.append(next.label)
                try await store.returnWebhook(next.id, by: holder, at: World.now + Double(taken.count))
            }
            #expect(Set(taken) == ["photos", "albums"])
            #expect(taken[0] != taken[1] && taken[0] == taken[2] && taken[1] == taken[3])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a failed event is due later, and a disabled webhook is due when it is resumed`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let (holder, webhook) = (LeaseHolder(), try Self.webhook("photos"))
            #expect(try await store.addWebhook(webhook, recording: []) == .added)
            try await Self.append([0], to: store)
            for failures in 1...2 {
                #expect(try await Self.take(store, by: holder, at: Double(failures * 10)).count == 1)
                _ = try await store.settleWebhook(
                    webhook.id,
                    .failed(
                        Self.attempt(1, status: nil, at: Double(failures)),
                        retryAt: World.now + Double(failures * 10 + 10)), by: holder)
                try await store.returnWebhook(webhook.id, by: holder, at: World.now)
                #expect(try await Self.take(store, by: holder, at: Double(failures * 10 + 9)).isEmpty)
            }
            let failing = try #require(try await store.webhook(webhook.id))
            #expect(failing.failures == 2 && failing.failingSince == World.now + 1 && failing.cursor == 0)
            #expect(try await store.webhookProgress().failingSince == World.now + 1)
            #expect(try await Self.take(store, by: holder, at: 30).count == 1)
            let event = AuditEvent(at: World.now + 30, .setting, action: .webhookDisabled)
            #expect(
                try await !store.settleWebhook(
                    webhook.id, .disabled(.gone, Self.attempt(1, status: 410), event), by: holder))
            try await store.returnWebhook(webhook.id, by: holder, at: World.now)
            #expect(try await store.audit(AuditQuery()).map(\.event).contains(event))
            #expect(try await Self.take(store, by: holder, at: 99).isEmpty)
            let gone = try #require(try await store.webhook(webhook.id))
            #expect(gone.state == .gone && gone.revision == 2)
            var resumed = gone
            resumed.state = .active
            #expect(
                try await store.updateWebhook(resumed, from: failing, at: World.now, recording: [])
                    == .changedMeanwhile)
            #expect(
                try await store.updateWebhook(resumed, from: gone, at: World.now + 100, recording: []) == .updated)
            let active = try #require(try await Self.take(store, by: holder, at: 100).first?.webhook)
            #expect(active.failures == 0 && active.failingSince == nil && active.cursor == 0)
            #expect(
                try await store.webhookDeliveries(of: webhook.id, before: nil, limit: 9).map(\.attempt)
                    == [
                        Self.attempt(1, status: 410), Self.attempt(1, status: nil, at: 2),
                        Self.attempt(1, status: nil, at: 1),
                    ])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an event is sent again in each state, and a moved webhook continues from there`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let (holder, webhook) = (LeaseHolder(), try Self.webhook("photos", cursor: 2, state: .paused))
            #expect(try await store.addWebhook(webhook, recording: []) == .added)
            try await Self.append([0, 1], to: store)
            #expect(try await store.resendEvent(2, to: webhook.id, recording: []) == .queued)
            #expect(try await store.resendEvent(2, to: webhook.id, recording: []) == .queued)
            #expect(try await store.resendEvent(1, to: webhook.id, recording: []) == .queued)
            #expect(try await store.resendEvent(1, to: WebhookIdentifier(), recording: []) == .notFound)
            #expect(try await Self.take(store, by: holder).map(\.resends) == [[1, 2]])
            for seal in 1...2 {
                _ = try await store.settleWebhook(
                    webhook.id, .resent(Self.attempt(seal, status: 500)), by: holder)
            }
            try await store.returnWebhook(webhook.id, by: holder, at: World.now)
            #expect(try await Self.take(store, by: holder).isEmpty)
            for seal in 1...Webhook.resendLimit {
                #expect(try await store.resendEvent(seal, to: webhook.id, recording: []) == .queued)
            }
            #expect(try await store.resendEvent(99, to: webhook.id, recording: []) == .queueFull)
            #expect(try await store.moveWebhook(webhook.id, to: 1, at: World.now, recording: []))
            #expect(try await store.webhook(webhook.id)?.cursor == 1)
            #expect(try await store.removeWebhook(webhook.id, recording: []))
            #expect(try await store.webhookDeliveries(of: webhook.id, before: nil, limit: 9).isEmpty)
            #expect(try await !store.moveWebhook(webhook.id, to: 1, at: World.now, recording: []))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `only the last deliveries and a limited number of webhooks are kept`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let (holder, webhook) = (LeaseHolder(), try Self.webhook("photos"))
            #expect(try await store.addWebhook(webhook, recording: []) == .added)
            for seal in 1...Webhook.deliveryLimit + 3 {
                _ = try await store.settleWebhook(
                    webhook.id, .passed(from: seal - 1, to: seal, Self.attempt(seal, status: 204)), by: holder)
            }
            let kept = try await store.webhookDeliveries(of: webhook.id, before: nil, limit: 999)
            #expect(kept.map(\.attempt.seal) == (4...Webhook.deliveryLimit + 3).reversed())
            let older = try await store.webhookDeliveries(of: webhook.id, before: kept[1].number, limit: 1)
            #expect(older == [kept[2]])
            for number in 2...Webhook.limit {
                #expect(try await store.addWebhook(try Self.webhook("w\(number)"), recording: []) == .added)
            }
            #expect(try await store.addWebhook(try Self.webhook("last"), recording: []) == .tooMany)
            #expect(try await store.webhooks().count == Webhook.limit)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a time leads to the seal before its first event, also if that was sealed late`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            #expect(try await store.seal(before: World.now) == nil)
            try await Self.append([0, 20, 2000], to: store)
            try await Self.append([10, 3000], to: store)
            #expect(try await store.seal(before: World.now - 5) == 0)
            #expect(try await store.seal(before: World.now + 5) == 1)
            #expect(try await store.seal(before: World.now + 30) == 2)
            #expect(try await store.seal(before: World.now + 2500) == 4)
            #expect(try await store.seal(before: World.now + 3001) == nil)
            // An event without a seal does not hide those after it.
            try await store.appendAudit(AuditEvent(at: World.now + 2300, .account))
            #expect(try await store.seal(before: World.now + 2200) == 4)
            let webhook = try Self.webhook("photos", cursor: 2, state: .paused)
            #expect(try await store.addWebhook(webhook, recording: []) == .added)
            let progress = try await store.webhookProgress()
            #expect(progress.states == [.paused: 1] && progress.oldest == nil)
            #expect(progress.oldestHeld == World.now + 2000)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the identifier of a deleted user is kept for a week if there is a webhook`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world in
            let store = world.store
            let eve = try await world.adding("eve")
            let terms = try World.terms(of: eve.user)
            let event = AuditEvent(at: World.now, .account, userID: terms.pseudonym, action: .userDeleted)
            #expect(
                try await store.beginRemoval(of: eve.user.id, by: terms, recording: event, at: World.now)
                    == .begun([]))
            #expect(try await store.removedSubjects(of: [terms.pseudonym]) == [:])
            // An administrator can resume it.
            #expect(try await store.addWebhook(try Self.webhook("photos", state: .failing), recording: []) == .added)
            let own = try World.terms(of: world.user)
            let removal = AuditEvent(at: World.now, .account, userID: own.pseudonym, action: .userDeleted)
            #expect(
                try await store.beginRemoval(of: world.user.id, by: own, recording: removal, at: World.now)
                    == .begun([]))
            #expect(
                try await store.removedSubjects(of: [own.pseudonym, terms.pseudonym])
                    == [own.pseudonym: own.sealedUserID])
            func expire(_ seconds: TimeInterval) async throws {
                let limit = World.now + seconds
                _ = try await store.deleteExpired(
                    ExpirationLimits(
                        now: limit, codesBefore: limit, sessionsIdleBefore: limit, refreshIdleBefore: limit,
                        grantsBefore: limit), atMost: 100)
            }
            try await expire(7 * 86_400 - 1)
            #expect(try await store.removedSubjects(of: [own.pseudonym]).count == 1)
            try await expire(7 * 86_400 + 1)
            #expect(try await store.removedSubjects(of: [own.pseudonym]) == [:])
        }
    }
}
