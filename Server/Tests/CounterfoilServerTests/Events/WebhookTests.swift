@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Crypto
import Foundation
import TestSupport
import Testing

/// The delivery of events to webhooks (Standard Webhooks 1.0.0).
struct WebhookTests {
    private static let host = "hooks.example.com"

    /// The signature as a receiver computes it from the secret that an administrator has copied.
    private static func signature(_ request: WebhookRequest, _ secret: WebhookSecret) throws -> String {
        let text = secret.exposed
        #expect(text.hasPrefix("whsec_"))
        let key = try #require(Data(base64Encoded: String(text.dropFirst(6))))
        let content = Data("\(request.id).\(request.timestamp).".utf8) + Data(request.body)
        let code = HMAC<SHA256>.authenticationCode(for: content, using: SymmetricKey(data: key))
        return "v1," + Data(code).base64EncodedString()
    }

    // Standard Webhooks, "Signature scheme" and "Payload structure"
    @Test func `a receiver gets the events of a sign-in and of an account, signed and without names`() async throws {
        let scene = try await WebhookScene()
        try await scene.append()
        try await scene.deliver()
        let (_, secret) = try await scene.webhook(Self.host)
        _ = try await Developer("dora", of: scene.test)
        let dora = try await scene.test.addUser("dora")
        let changes = UserAdministration(
            scene.store, serverKey: try WebhookScene.serverKey, by: .command, notifying: nil,
            at: scene.test.clock.now)
        #expect(try await changes.disable(dora.id) == .changed)
        #expect(try await scene.deliver() == 1)
        let requests = scene.receiver.requests(to: Self.host)
        #expect(try requests.map { try $0.type } == ["webhook.created", "session.started", "user.disabled"])
        for request in requests {
            #expect(try request.signature == Self.signature(request, secret))
            #expect(request.timestamp == Int(scene.test.clock.wall.timeIntervalSince1970))
            #expect(request.id.hasPrefix("evt_"))
            #expect(try request.event["id"] as? String == request.id)
            #expect(try request.event["version"] as? Int == 1)
            let text = String(decoding: request.body, as: UTF8.self)
            #expect(!text.contains("dora") && !text.contains("192.0.2.1") && !text.contains("@"))
        }
        #expect(Set(requests.map(\.id)).count == 3)
        #expect(try requests[1].data["sub"] as? String == dora.id.rawValue)
        #expect(try requests[2].data["sub"] as? String == dora.id.rawValue)
        #expect(try requests[2].data["outcome"] as? String == "done")
        #expect(try await scene.deliver() == 0)
        #expect(scene.receiver.requests.count == 3)
    }

    // Standard Webhooks, "Webhook headers"
    @Test func `a replaced secret signs beside the new one until its time is over`() async throws {
        let scene = try await WebhookScene()
        let (webhook, former) = try await scene.webhook(Self.host, "user.created")
        let secret = try #require(
            try await scene.administration.replaceSecret(of: try await scene.stored(webhook), overlapping: 2))
        try await scene.append()
        try await scene.deliver()
        let first = try #require(scene.receiver.requests.last)
        let both = try [Self.signature(first, secret), Self.signature(first, former)]
        #expect(first.signature == both.joined(separator: " "))
        scene.test.clock.advance(by: 2 * 3600)
        try await scene.append()
        try await scene.deliver()
        let second = try #require(scene.receiver.requests.last)
        #expect(try second.signature == Self.signature(second, secret))
        #expect(second.id != first.id)
    }

    // Standard Webhooks, "Deliverability and reliability"
    @Test func `a failed event is repeated with its identifier at growing intervals, before any later event`()
        async throws
    {
        let scene = try await WebhookScene()
        let (webhook, _) = try await scene.webhook(Self.host, "user.created")
        scene.receiver.answers(.failed(.timedOut), at: Self.host)
        try await scene.append()
        try await scene.append()
        #expect(try await scene.deliver() == 1)
        for delay in WebhookRetries.delays {
            scene.test.clock.advance(by: delay - 0.5)
            #expect(try await scene.deliver() == 0)
            scene.test.clock.advance(by: delay * 0.2 + 1)
            #expect(try await scene.deliver() == 1)
        }
        let requests = scene.receiver.requests
        #expect(requests.count == WebhookRetries.delays.count + 1 && Set(requests.map(\.id)).count == 1)
        #expect(Set(requests.map(\.body)).count == 1 && Set(requests.map(\.timestamp)).count == requests.count)
        #expect(try await scene.stored(webhook).failures == requests.count)
        // A receiver can ask for more time.
        scene.receiver.answers(.answered(status: 429, retryAfter: 20_000), at: Self.host)
        scene.test.clock.advance(by: 10_000)
        #expect(try await scene.deliver() == 1)
        scene.test.clock.advance(by: 19_998)
        #expect(try await scene.deliver() == 0)
        scene.receiver.answers(.answered(status: 200, retryAfter: nil), at: Self.host)
        scene.test.clock.advance(by: 4)
        #expect(try await scene.deliver() == 1)
        #expect(Set(scene.receiver.requests.map(\.id)).count == 2)
        let stored = try await scene.stored(webhook)
        #expect(stored.failures == 0 && stored.failingSince == nil)
        let deliveries = try await scene.store.webhookDeliveries(of: webhook.id, before: nil, limit: 20)
        #expect(deliveries.map(\.attempt.status).prefix(3) == [200, 200, 429])
        #expect(deliveries.last?.attempt.failure == "timed-out")
    }

    // Standard Webhooks, "Delivery success and failure"
    @Test(arguments: [Webhook.State.gone, .failing])
    func `a receiver that is gone or fails for days is disabled, and resumed with the same event`(
        state: Webhook.State
    ) async throws {
        let scene = try await WebhookScene()
        let (webhook, _) = try await scene.webhook(Self.host, "user.created")
        let status = state == .gone ? 410 : 307
        scene.receiver.answers(.answered(status: status, retryAfter: nil), at: Self.host)
        try await scene.append()
        #expect(try await scene.deliver() == 1)
        if state == .failing {
            #expect(try await scene.stored(webhook).state == .active)
            scene.test.clock.advance(by: WebhookRetries.patience + 1)
            #expect(try await scene.deliver() == 1)
        }
        let disabled = try await scene.stored(webhook)
        #expect(disabled.state == state)
        scene.test.clock.advance(by: 86_400)
        #expect(try await scene.deliver() == 0)
        let event = try #require(try await scene.store.audit(AuditQuery(kind: .setting)).first?.event)
        #expect(event.action == .webhookDisabled)
        #expect(scene.test.server.metrics.snapshot.events[.webhookDisabled] == 1)
        scene.receiver.answers(.answered(status: 200, retryAfter: nil), at: Self.host)
        #expect(try await scene.administration.resume(disabled))
        #expect(try await scene.deliver() == 1)
        #expect(Set(scene.receiver.requests.map(\.id)).count == 1)
        #expect(try await scene.stored(webhook).state == .active)
    }

    @Test func `a slow receiver delays no other one`() async throws {
        let scene = try await WebhookScene()
        _ = try await scene.webhook("slow.example.com", "user.created")
        _ = try await scene.webhook(Self.host, "user.created")
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        scene.receiver.waits(for: gate, at: "slow.example.com")
        for _ in 1...3 { try await scene.append() }
        async let delivered = scene.deliver()
        _ = try await Waiting.until("the events of the other receiver") {
            scene.receiver.requests(to: Self.host).count == 3 ? true : nil
        }
        #expect(scene.receiver.requests(to: "slow.example.com").count == 1)
        opening.finish()
        #expect(try await delivered == 2)
        #expect(scene.receiver.requests(to: "slow.example.com").count == 3)
    }

    // SEC-920
    @Test func `after a change, a server that waits for an answer sends nothing more to the former URL`()
        async throws
    {
        let scene = try await WebhookScene()
        let (webhook, _) = try await scene.webhook(Self.host, "user.created")
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        scene.receiver.waits(for: gate, at: Self.host)
        for _ in 1...3 { try await scene.append() }
        async let delivered = scene.deliver()
        _ = try await Waiting.until("the first event") {
            scene.receiver.requests(to: Self.host).count == 1 ? true : nil
        }
        var draft = WebhookDraft(webhook)
        draft.url = "https://new.example.com/events"
        let moved = draft
        #expect(try await scene.administration.change(webhook, to: moved))
        // The same server takes the webhook while its former turn waits.
        #expect(try await scene.deliver() == 1)
        opening.finish()
        #expect(try await delivered == 1)
        #expect(scene.receiver.requests(to: Self.host).count == 1)
        #expect(scene.receiver.requests(to: "new.example.com").count == 3)
    }

    // SEC-921
    @Test func `without a choice, a receiver gets no refusals that strangers can cause without limit`() async throws {
        let scene = try await WebhookScene()
        _ = try await scene.webhook(Self.host)
        _ = try await scene.webhook("all.example.com", "session.refused", "user.created")
        scene.test.clock.advance(by: 1)
        for kind in [AuditEvent.Kind.signIn, .browserRequest, .clientAuthentication, .throttled, .codeRedemption] {
            try await scene.store.appendAudit(AuditEvent(at: scene.test.clock.now, kind, .refused))
        }
        try await scene.append()
        #expect(try await scene.deliver() == 2)
        #expect(
            try scene.receiver.requests(to: Self.host).map { try $0.type }
                == ["webhook.created", "webhook.created", "user.created"])
        #expect(
            try scene.receiver.requests(to: "all.example.com").map { try $0.type }
                == ["session.refused", "user.created"])
    }

    @Test func `an event that was sent before its commit failed is sent again with the same identifier`() async throws {
        let scene = try await WebhookScene()
        let (webhook, _) = try await scene.webhook(Self.host, "user.created")
        try await scene.append()
        try await scene.append()
        scene.store.fail(StoreOperation("settleWebhook"))
        #expect(try await scene.deliver() == 1)
        // Not at once: the receiver would get it again and again.
        #expect(try await scene.deliver() == 0)
        scene.store.recover()
        #expect(try await scene.stored(webhook).failures == 0)
        scene.test.clock.advance(by: 91)
        #expect(try await scene.deliver() == 1)
        let ids = scene.receiver.requests.map(\.id)
        #expect(ids.count == 3 && ids[0] == ids[1] && ids[1] != ids[2])
    }

    @Test func `events are replayed from a time, and a single one is sent again while the webhook is paused`()
        async throws
    {
        let scene = try await WebhookScene()
        let (webhook, _) = try await scene.webhook(Self.host, "user.created", "user.enabled")
        try await scene.append()
        scene.test.clock.advance(by: 3600)
        let start = scene.test.clock.now
        try await scene.append(.userEnabled)
        try await scene.append()
        try await scene.deliver()
        let ids = scene.receiver.requests.map(\.id)
        #expect(ids.count == 3)
        #expect(try await scene.administration.replay(try await scene.stored(webhook), since: start))
        try await scene.deliver()
        #expect(scene.receiver.requests.map(\.id) == ids + ids.dropFirst())
        #expect(try await scene.administration.pause(try await scene.stored(webhook)))
        try await scene.append()
        let delivery = try #require(
            try await scene.store.webhookDeliveries(of: webhook.id, before: nil, limit: 9).last)
        #expect(try await scene.administration.resend(delivery.attempt.seal, to: webhook) == .queued)
        try await scene.deliver()
        #expect(scene.receiver.requests.map(\.id) == ids + ids.dropFirst() + [ids[0]])
        let resent = try #require(
            try await scene.store.webhookDeliveries(of: webhook.id, before: nil, limit: 1).first)
        #expect(resent.attempt.isResend && resent.attempt.isDelivered)
        // A later time leaves events out.
        #expect(
            try await scene.administration.replay(try await scene.stored(webhook), since: scene.test.clock.now + 1))
        #expect(try await scene.administration.resume(try await scene.stored(webhook)))
        try await scene.deliver()
        #expect(scene.receiver.requests.count == 6)
    }

    @Test func `a receiver learns which user was deleted, although the audit log has a pseudonym`() async throws {
        let scene = try await WebhookScene()
        _ = try await scene.webhook(Self.host, "user.created", "user.deleted")
        let alice = scene.test.alice.id
        try await scene.append(of: alice)
        let changes = UserAdministration(
            scene.store, serverKey: try WebhookScene.serverKey, by: .command, notifying: nil,
            at: scene.test.clock.now)
        #expect(try await changes.delete(alice, ownedClients: .refuse).outcome == .begun([]))
        try await scene.test.server.maintenance.deleteAllExpired()
        try await scene.deliver()
        #expect(try scene.receiver.requests.map { try $0.type } == ["user.created", "user.deleted"])
        for request in scene.receiver.requests {
            #expect(try request.data["sub"] as? String == alice.rawValue)
        }
        #expect(try await scene.store.audit(AuditQuery(kind: .account)).allSatisfy { $0.event.userID != alice })
    }

    @Test func `the audit log keeps an event that a webhook has not got, up to a limit`() async throws {
        let scene = try await WebhookScene { $0.auditRetention = 10 }
        let (webhook, _) = try await scene.webhook(Self.host, "user.created")
        scene.receiver.answers(.failed(.unreachable), at: Self.host)
        try await scene.append()
        try await scene.deliver()
        #expect(try await scene.administration.pause(try await scene.stored(webhook)))
        let maintenance = scene.test.server.maintenance
        scene.test.clock.advance(by: 20 * 86_400)
        try await maintenance.sealAudit()
        _ = try await maintenance.removeOldAuditEvents()
        scene.receiver.answers(.answered(status: 200, retryAfter: nil), at: Self.host)
        #expect(try await scene.administration.resume(try await scene.stored(webhook)))
        try await scene.deliver()
        #expect(Set(scene.receiver.requests.map(\.id)).count == 1)
        #expect(try await scene.stored(webhook).missedThrough == nil)

        #expect(try await scene.administration.pause(try await scene.stored(webhook)))
        try await scene.append()
        try await scene.deliver()
        scene.test.clock.advance(by: 50 * 86_400)
        try await scene.append()
        try await maintenance.sealAudit()
        #expect(try await maintenance.removeOldAuditEvents() > 0)
        #expect(try await scene.administration.resume(try await scene.stored(webhook)))
        try await scene.deliver()
        #expect(Set(scene.receiver.requests.map(\.id)).count == 2)
        #expect(try await scene.stored(webhook).missedThrough != nil)
        #expect(scene.test.server.metrics.snapshot.events[.webhookEventsMissed] == 1)
    }

    @Test func `the secrets of webhooks are encrypted again with a new server key`() async throws {
        let store = TestStore()
        let former = try WebhookScene.serverKey
        let id = WebhookIdentifier()
        let secret = WebhookSecret()
        let webhook = Webhook(
            id: id, url: try AbsoluteURI(parsing: "https://hooks.example.com/"), label: "Photos", types: [],
            sealedSecret: try former.seal(webhookSecret: secret.bytes, of: id), createdAt: FixedClock().now, cursor: 0)
        #expect(try await store.addWebhook(webhook, recording: []) == .added)
        let replacement = [UInt8](repeating: 8, count: 32)
        let keys = try #require(ServerKey(bytes: replacement + [UInt8](repeating: 7, count: 32)))
        let test = try await TestServer(store: store, serverKey: keys)
        _ = try await test.server.maintenance.runRound()
        let sealed = try #require(try await store.webhook(id)).sealedSecret
        let new = try #require(ServerKey(bytes: replacement))
        #expect(try new.open(webhookSecret: sealed, of: id).bytes == secret.bytes)
        #expect(throws: (any Error).self) { try new.open(webhookSecret: sealed, of: WebhookIdentifier()) }
    }

    @Test(arguments: AuditEvent.Kind.allCases, AuditEvent.Outcome.allCases)
    func `each kind and outcome has a type of events`(kind: AuditEvent.Kind, outcome: AuditEvent.Outcome) throws {
        func type(_ action: AuditEvent.Action?) -> EventType {
            EventType(
                of: AuditRecord(
                    AuditEntry(
                        number: 1,
                        event: AuditEvent(at: Date(timeIntervalSince1970: 0), kind, outcome, action: action))))
        }
        let plain = type(nil)
        #expect(plain.rawValue != "other" && EventType(known: plain.rawValue) == plain)
        #expect(type(.clientSuspended) == (outcome == .done ? EventType(known: "client.suspended") : plain))
    }

    @Test func `the names of the types are full-stop delimited identifiers`() {
        for type in EventType.allCases where type.rawValue != "other" {
            #expect(type.rawValue.wholeMatch(of: /[a-z_]+\.[a-z_]+/) != nil, "\(type.rawValue)")
        }
        #expect(Set(EventType.allCases).count == EventType.allCases.count)
    }

    @Test(arguments: [
        "http://hooks.example.com/", "https://127.0.0.1/", "https://user@hooks.example.com/",
        "https://hooks.example.com/#a", "https://localhost/", "hooks", "",
    ])
    func `a webhook needs an https URL with a host name`(url: String) async throws {
        let scene = try await WebhookScene()
        var draft = WebhookDraft()
        (draft.url, draft.label, draft.types) = (url, "Photos", ["user.created", "nothing"])
        let (invalid, administration) = (draft, try scene.administration)
        let refusal = await #expect(throws: WebhookRefusal.self) { try await administration.add(invalid) }
        #expect(refusal?.problems.map(\.field) == [.url, .types])
        #expect(try await scene.store.webhooks().isEmpty)
    }
}
