@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilWeb
import Crypto
import Foundation
import NIOCore
import TestSupport
import Testing

@testable import CounterfoilServer

/// Webhooks to a real receiver (Standard Webhooks 1.0.0).
@Suite(.timeLimit(.minutes(5)))
struct WebhookTests {
    private static let url = "https://hooks.example.net/events?of=ours"

    /// A server that sends the events for `hooks.example.net` to a local port.
    private struct Scene {
        let test: TestServer
        let store: TestStore
        let webhook: Webhook
        let secret: WebhookSecret

        init(port: Int, types: [String] = []) async throws {
            store = TestStore()
            let key = try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
            test = try await TestServer(
                store: store, serverKey: key,
                webhookSender: WebhookPost(
                    OutboundClient(insecureLoopbackPort: port) { _ in [[127, 0, 0, 1]] }))
            try await test.server.maintenance.sealAudit()
            var draft = WebhookDraft()
            (draft.url, draft.label, draft.types) = (WebhookTests.url, "Receiver", types)
            let now = test.clock.now
            let administration = WebhookAdministration(
                store, serverKey: key, at: now, recording: { AuditEvent(at: now, $0, detail: $1) })
            (webhook, secret) = try await administration.add(draft)
        }

        /// Records events of users in turn, and seals them; returns the users.
        func append(_ count: Int, of users: [UserIdentifier]) async throws -> [String] {
            var order: [String] = []
            for number in 0..<count {
                let user = users[number % users.count]
                test.clock.advance(by: 0.001)
                try await store.appendAudit(
                    AuditEvent(at: test.clock.now, .account, userID: user, action: .userEnabled))
                order.append(user.rawValue)
            }
            try await test.server.maintenance.sealAudit()
            return order
        }

        func deliver() async throws { await (try #require(test.server.webhookNotifier)).deliverDue() }
    }

    /// An event as a receiver verifies it (Standard Webhooks, "Verifying signatures").
    private struct Verified {
        let id: String
        let body: String
        let user: String?

        init(_ request: LogoutReceiver.Request, with secret: WebhookSecret) throws {
            func field(_ name: String) throws -> String {
                let line = request.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name): ") }
                return String(try #require(line).dropFirst(name.count + 2))
            }
            id = try field("webhook-id")
            body = request.body
            let key = SymmetricKey(
                data: try #require(Data(base64Encoded: String(secret.exposed.dropFirst("whsec_".count)))))
            let content = "\(id).\(try field("webhook-timestamp")).\(body)"
            let code = HMAC<SHA256>.authenticationCode(for: Data(content.utf8), using: key)
            #expect(try field("webhook-signature") == "v1," + Data(code).base64EncodedString())
            #expect(try field("content-type") == "application/json")
            let event = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
            user = (event["data"] as? [String: Any])?["sub"] as? String
        }
    }

    /// The ways in which a receiver ends: after it has read the request, while it answers, or by an error of a proxy
    /// in front of it.
    private static let deaths: [LogoutReceiver.Answer] = [
        .bytes(""), .bytes("HTTP/1."), .bytes("HTTP/1.1 200 OK\r\nContent-Le"), .status("502 Bad Gateway"),
        .status("500 Internal Server Error"), .status("307 Temporary Redirect", "Location: http://127.0.0.1/\r\n"),
    ]

    @Test func `a receiver that is killed 200 times gets every event, in the order of each user, and knows duplicates`()
        async throws
    {
        var random = SystemRandomNumberGenerator()
        let count = 60
        // Before each event is accepted, the receiver ends some times; 200 times in all.
        var kills = Array(repeating: 3, count: count)
        for _ in 0..<(200 - 3 * count) { kills[Int.random(in: 0..<count, using: &random)] += 1 }
        let answers = kills.flatMap { number in
            (0..<number).map { _ in Self.deaths[Int.random(in: 0..<Self.deaths.count, using: &random)] }
                + [.status("204 No Content")]
        }
        let receiver = LogoutReceiver(answers)
        try await receiver.run { port in
            let scene = try await Scene(port: port, types: ["user.enabled"])
            var users: [UserIdentifier] = []
            for name in ["dora", "emil", "fay"] { users.append(try await scene.test.addUser(name).id) }
            let first = try await scene.append(count / 2, of: users)
            var second: [String] = []
            var rounds = 0
            while receiver.requests.count < answers.count, rounds < 500 {
                rounds += 1
                // The server ends, too, between a request and its commit.
                let isServerKilled = rounds.isMultiple(of: 20)
                if isServerKilled { scene.store.fail(StoreOperation("settleWebhook")) }
                try await scene.deliver()
                scene.store.recover()
                scene.test.clock.advance(by: WebhookRetries.delays[4] * 1.2)
                if second.isEmpty, rounds > 50 { second = try await scene.append(count / 2, of: users) }
            }
            // The last answer is repeated.
            for _ in 0..<20 {
                scene.test.clock.advance(by: WebhookRetries.delays[4] * 1.2)
                try await scene.deliver()
            }
            let requests = try receiver.requests.map { try Verified($0, with: scene.secret) }
            #expect(requests.count >= 200 + count)
            var known: [String: String] = [:]
            var processed: [Verified] = []
            for request in requests {
                if let body = known[request.id] {
                    #expect(body == request.body)
                } else {
                    known[request.id] = request.body
                    processed.append(request)
                }
            }
            let expected = first + second
            #expect(processed.map(\.user) == expected)
            #expect(processed.count == count)
            let stored = try #require(try await scene.store.webhook(scene.webhook.id))
            #expect(stored.state == .active && stored.failures == 0)
        }
    }

    // By default, the program sends nothing to internal hosts.
    @Test(arguments: [[127, 0, 0, 1], [10, 0, 0, 7], [169, 254, 169, 254]] as [[UInt8]])
    func `a host name that resolves to a private address gets no event`(inside: [UInt8]) async throws {
        let receiver = LogoutReceiver(.status("200 OK"))
        try await receiver.run { port in
            let scene = try await Scene(port: port)
            _ = try await scene.append(1, of: [UserIdentifier()])
            let event = try await EventReader(
                scene.store,
                serverKey: try #require(
                    ServerKey(bytes: [UInt8](repeating: 7, count: 32)))
            ).read(after: 0).events[0]
            let request = try WebhookRequest(
                event, to: try AbsoluteURI(parsing: "https://hooks.example.net:\(port)/"), at: Date(),
                with: [scene.secret], party: "test")
            let sender = WebhookPost(OutboundClient(insecureLoopbackPort: nil) { _ in [inside] })
            #expect(await sender.send(request) == .failed(.notPublic))
            #expect(receiver.requests.isEmpty)
        }
    }
}
