@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

/// Receives events in place of the hosts of webhooks.
final class WebhookReceiver: WebhookSender {
    private struct State {
        var requests: [WebhookRequest] = []
        var outcomes: [String: WebhookOutcome] = [:]
        var pause: (host: String, gate: AsyncStream<Void>)?
    }

    private let state = Mutex(State())

    var requests: [WebhookRequest] { state.withLock { $0.requests } }

    /// The requests to a host.
    func requests(to host: String) -> [WebhookRequest] { requests.filter { $0.url.host == host } }

    func answers(_ outcome: WebhookOutcome, at host: String) { state.withLock { $0.outcomes[host] = outcome } }

    /// Lets a host answer only after a stream has ended.
    func waits(for gate: AsyncStream<Void>, at host: String) { state.withLock { $0.pause = (host, gate) } }

    func send(_ request: WebhookRequest) async -> WebhookOutcome {
        let host = request.url.host ?? ""
        let pause = state.withLock { state in
            state.requests.append(request)
            return state.pause?.host == host ? state.pause?.gate : nil
        }
        if let pause { for await _ in pause {} }
        return state.withLock { $0.outcomes[host] ?? .answered(status: 204, retryAfter: nil) }
    }
}

extension WebhookRequest {
    /// The members of the event.
    var event: [String: Any] {
        get throws {
            try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        }
    }

    var type: String? { get throws { try event["type"] as? String } }

    var data: [String: Any] { get throws { try #require(try event["data"] as? [String: Any]) } }
}

/// A server whose webhooks send to a receiver.
struct WebhookScene {
    /// The server key of `TestServer`.
    static var serverKey: ServerKey {
        get throws { try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32))) }
    }

    let test: TestServer
    let store: TestStore
    let receiver: WebhookReceiver

    init(_ configure: (inout ServerSettings) -> Void = { _ in }) async throws {
        let (store, receiver) = (TestStore(), WebhookReceiver())
        (self.store, self.receiver) = (store, receiver)
        test = try await TestServer(
            store: store, serverKey: try Self.serverKey, webhookSender: receiver, configure: configure)
        try await test.server.maintenance.sealAudit()
    }

    /// The changes of webhooks by a command.
    var administration: WebhookAdministration {
        get throws {
            WebhookAdministration(
                test.store, serverKey: try Self.serverKey, at: test.clock.now,
                recording: { [now = test.clock.now] in AuditEvent(at: now, $0, detail: $1) })
        }
    }

    /// Creates a webhook of a host.
    func webhook(
        _ host: String, _ types: String...
    ) async throws -> (webhook: Webhook, secret: WebhookSecret) {
        var draft = WebhookDraft()
        (draft.url, draft.label, draft.types) = ("https://\(host)/events", host, types)
        return try await administration.add(draft)
    }

    /// The webhook as it is stored.
    func stored(_ webhook: Webhook) async throws -> Webhook { try #require(try await store.webhook(webhook.id)) }

    /// Seals the events that were recorded, and sends what is due.
    @discardableResult
    func deliver() async throws -> Int {
        try await test.server.maintenance.sealAudit()
        return await (try #require(test.server.webhookNotifier)).deliverDue()
    }

    /// Records an event of a user.
    func append(_ action: AuditEvent.Action = .userCreated, of user: UserIdentifier? = nil) async throws {
        test.clock.advance(by: 0.001)
        try await store.appendAudit(AuditEvent(at: test.clock.now, .account, userID: user, action: action))
    }
}
