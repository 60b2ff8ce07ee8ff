import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The operations of the administration API on webhooks.
struct WebhookOperationTests {
    private static let json = #"{"url": "https://hooks.example.com/", "label": "Photos", "types": ["user.created"]}"#

    private let receiver = WebhookReceiver()
    private let desk: AdministrationDesk
    private let token: AccessToken

    init() async throws {
        desk = try await AdministrationDesk(webhookSender: receiver)
        token = try await desk.token()
        // A webhook gets the events from its creation on.
        try await desk.test.server.maintenance.sealAudit()
    }

    /// Creates a webhook, and returns its path and the answer.
    private func create(key: String? = nil) async throws -> (path: String, reply: Reply) {
        var fields: HTTPFields = [:]
        if let key, let name = HTTPField.Name("Idempotency-Key") { fields[name] = key }
        let reply = try await desk.send(.post, "/webhooks", as: token, json: Self.json, fields: fields)
        let id = try #require(try reply.members["id"] as? String)
        return ("/webhooks/\(id)", reply)
    }

    /// Seals what was recorded, and sends what is due.
    private func deliver() async throws -> Int {
        try await desk.test.server.maintenance.sealAudit()
        return await (try #require(desk.test.server.webhookNotifier)).deliverDue()
    }

    private func append() async throws {
        desk.test.clock.advance(by: 0.001)
        try await desk.test.store.appendAudit(AuditEvent(at: desk.test.clock.now, .account, action: .userCreated))
    }

    // SEC-950
    @Test func `the secret of a webhook is in the answer to its creation or replacement, and in no other`()
        async throws
    {
        let (path, created) = try await create(key: "one")
        #expect(created.status == .created)
        #expect(created.fields[.location] == "https://id.example.com/api/v1" + path)
        let secret = try #require(try created.members["secret"] as? String)
        #expect(secret.hasPrefix("whsec_"))
        let repeated = try await create(key: "one")
        #expect(repeated.path == path)
        #expect(try repeated.reply.members["secret"] as? String == secret)

        let read = try await desk.send(.get, path, as: token)
        #expect(read.fields[.eTag] == created.fields[.eTag])
        #expect(try read.members["secret"] == nil)
        let list = try await desk.send(.get, "/webhooks", as: token)
        #expect(try list.items("label") == ["Photos"] && list.items("secret") == [])

        let replaced = try await desk.send(.post, path + "/secret", as: token, json: #"{"overlap_hours": 2}"#)
        #expect(replaced.status == .created)
        #expect((try replaced.members["secret"] as? String).map { $0.hasPrefix("whsec_") && $0 != secret } == true)
        let after = try await desk.send(.get, path, as: token)
        #expect(try after.members["former_secret_until"] != nil)
        #expect(after.fields[.eTag] != read.fields[.eTag])
    }

    @Test func `a webhook is changed as it was read, paused, resumed and deleted, each with its event`() async throws {
        let (path, created) = try await create()
        let tag = try #require(created.fields[.eTag])
        let refused = try await desk.send(
            .patch, path, as: token, json: #"{"url": "http://hooks.example.com/", "label": "", "types": ["none"]}"#,
            fields: [.ifMatch: tag])
        #expect(refused.status == .unprocessableContent)
        #expect(Set(try refused.refusedParts) == ["/url", "/label", "/types"])
        let without = try await desk.send(
            .patch, path, as: token, json: #"{"url": null, "label": null}"#, fields: [.ifMatch: tag])
        #expect(Set(try without.refusedParts) == ["/url", "/label"])
        let changed = try await desk.send(
            .patch, path, as: token, json: #"{"label": "Library", "types": null}"#, fields: [.ifMatch: tag])
        #expect(try changed.members["label"] as? String == "Library")
        #expect(try changed.members["types"] as? [String] == [])
        #expect(try changed.members["url"] as? String == "https://hooks.example.com/")
        let stale = try await desk.send(
            .patch, path, as: token, json: #"{"label": "Other"}"#, fields: [.ifMatch: tag])
        #expect(stale.status == .preconditionFailed)

        for _ in 1...2 {
            #expect(try await desk.send(.post, path + "/pause", as: token).members["state"] as? String == "paused")
        }
        #expect(try await desk.send(.post, path + "/resume", as: token).members["state"] as? String == "active")
        let kept = try await desk.send(.delete, path, as: token, fields: [.ifMatch: tag])
        #expect(kept.status == .preconditionFailed)
        #expect(try await desk.send(.delete, path, as: token).status == .noContent)
        #expect(try await desk.send(.get, path, as: token).status == .notFound)
        let events = try await desk.test.store.audit(AuditQuery(kind: .setting)).map(\.event)
            .filter { $0.userID == desk.test.alice.id }
        let actions = [AuditEvent.Action.webhookDeleted, .webhookChanged, .webhookChanged, .webhookChanged]
        #expect(events.map(\.action) == actions + [.webhookCreated])
        #expect(events.allSatisfy { $0.clientID == desk.client.id && $0.requestID == "request" })
    }

    @Test func `deliveries are listed in pages, and an event is sent again, also all since a time`() async throws {
        let start = desk.test.clock.now
        let (path, _) = try await create()
        for _ in 1...3 { try await append() }
        #expect(try await deliver() == 1)
        #expect(receiver.requests.count == 3)
        let first = try await desk.send(.get, path + "/deliveries?limit=2", as: token)
        let events = try first.items("event")
        #expect(events == receiver.requests.map(\.id).suffix(2).reversed())
        let next = try #require(try first.members["next"] as? String)
        let second = try await desk.send(.get, path + "/deliveries?limit=2&cursor=\(next)", as: token)
        #expect(try second.items("event") == [receiver.requests[0].id])
        #expect(try second.members["next"] == nil)

        let resent = try await desk.send(
            .post, path + "/resend", as: token, json: #"{"event": "\#(events[1])"}"#)
        #expect(resent.status == .accepted)
        let unknown = try await desk.send(.post, path + "/resend", as: token, json: #"{"event": "evt_0"}"#)
        #expect(unknown.problem == "no-delivery")
        _ = try await deliver()
        #expect(receiver.requests.map(\.id).last == events[1] && receiver.requests.count == 4)

        let time = Moment.text(start.addingTimeInterval(-60))
        let replayed = try await desk.send(.post, path + "/replay", as: token, json: #"{"since": "\#(time)"}"#)
        #expect(replayed.status == .ok)
        _ = try await deliver()
        #expect(receiver.requests.map(\.id).suffix(3) == receiver.requests.map(\.id).prefix(3))
        let refused = try await desk.send(.post, path + "/replay", as: token, json: #"{"since": "never"}"#)
        #expect(try refused.refusedParts == ["/since"])
    }

    @Test func `a webhook beyond the limit is refused`() async throws {
        for _ in 1...Webhook.limit { _ = try await create() }
        let reply = try await desk.send(.post, "/webhooks", as: token, json: Self.json)
        #expect(reply.status == .conflict && reply.problem == "too-many-webhooks")
    }
}
