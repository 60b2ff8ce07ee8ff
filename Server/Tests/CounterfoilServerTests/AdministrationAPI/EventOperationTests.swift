@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The events for other systems at the administration API.
struct EventOperationTests {
    private static let read = StoreOperation("sealedAudit")

    private let store = TestStore()
    private let desk: AdministrationDesk
    private let token: AccessToken

    init() async throws {
        desk = try await AdministrationDesk(store: store)
        token = try await desk.token("counterfoil.admin.events:read")
        try await desk.test.server.maintenance.sealAudit()
    }

    private func events(_ query: String = "") async throws -> Reply {
        try await desk.send(.get, "/events" + query, as: token)
    }

    @Test func `events are lines, which continue after the cursor of the answer before`() async throws {
        let end = try #require(try await events().field("Events-Cursor"))
        #expect(try await events("?after=\(end)").lines.isEmpty)
        for action in [AuditEvent.Action.userCreated, .userDisabled, .userCreated] { try await desk.append(action) }
        let first = try await events("?after=\(end)&limit=2")
        #expect(first.status == .ok)
        #expect(try first.lines.map { $0["type"] as? String } == ["user.created", "user.disabled"])
        let time = try #require(try first.lines.first?["timestamp"] as? String)
        let read = try Date(time, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        #expect(abs(read.timeIntervalSince(desk.test.clock.now)) < 1)
        #expect(first.field("Events-More") == "true")
        #expect(first.field("Events-Missed-Through") == nil)
        let cursor = try #require(first.field("Events-Cursor"))
        #expect(try first.lines.last?["cursor"] as? Int == Int(cursor))
        let second = try await events("?after=\(cursor)")
        #expect(try second.lines.map { $0["type"] as? String } == ["user.created"])
        #expect(second.field("Events-More") == "false")
        let chosen = try await events("?after=\(end)&types=user.disabled%20user.deleted")
        #expect(try chosen.lines.map { $0["type"] as? String } == ["user.disabled"])
        // The position is also beyond events of other types.
        #expect(chosen.field("Events-Cursor") == second.field("Events-Cursor"))
        #expect(try await events("?since=1h").lines.count == events().lines.count)
        let newest = try await events("?after=end")
        #expect(try newest.lines.isEmpty)
        #expect(newest.field("Events-Cursor") == second.field("Events-Cursor"))
    }

    @Test(arguments: [
        ("after=-1", "after"), ("after=1e3", "after"), ("after=END", "after"), ("after=99999999999999999999", "after"),
        ("after=999999", "after"), ("after=1&since=1h", "after"), ("since=never", "since"), ("types=", "types"),
        ("types=nothing", "types"), ("limit=501", "limit"), ("wait=4", "wait"), ("cursor=1", "cursor"),
    ])
    func `a query that is not understood gets 400 and no event`(_ query: String, _ part: String) async throws {
        let reply = try await events("?" + query)
        #expect(reply.status == .badRequest)
        #expect(try reply.refusedParts == [part])
    }

    @Test func `events that were deleted before they were read are named`() async throws {
        try await desk.append(.userCreated)
        let last = try #require(try await store.audit(AuditQuery()).first)
        desk.test.clock.advance(by: AuditPosition.settlingTime + 1)
        _ = try await store.removeAudit(through: last.position, atMost: 1000, recording: nil, at: desk.test.clock.now)
        let reply = try await events()
        #expect(reply.field("Events-Missed-Through") != nil)
    }

    @Test(.timeLimit(.minutes(1))) func `a request waits for the first event, and ends with it`() async throws {
        let end = try #require(try await events().field("Events-Cursor"))
        // The second look finds it.
        store.before(Self.read) { [store, desk] in
            store.before(Self.read) { try? await desk.append(.userCreated) }
        }
        let reply = try await events("?after=\(end)&wait=3")
        #expect(try reply.lines.map { $0["type"] as? String } == ["user.created"])
    }

    // SEC-951
    @Test(.timeLimit(.minutes(1))) func `ten requests of a user wait at the same time, and an eleventh gets 429`()
        async throws
    {
        let end = try #require(try await events().field("Events-Cursor"))
        let replies = Mutex<[Reply]>([])
        /// Sends a request, and the following one while it waits.
        @Sendable func send(_ number: Int) async {
            if number <= 10 {
                store.before(Self.read) { [store] in store.before(Self.read) { await send(number + 1) } }
            }
            if let reply = try? await events("?after=\(end)&wait=1") { replies.withLock { $0.append(reply) } }
        }
        await send(1)
        // The last request ends first.
        let ended = replies.withLock(\.self)
        #expect(ended.map(\.status.code) == [429] + Array(repeating: 200, count: 10))
        #expect(ended.first?.problem == "too-many-waiting" && ended.first?.fields[.retryAfter] == "1")
        #expect(try await events("?after=\(end)&wait=1").status == .ok)
    }

    enum Loss: CaseIterable { case role, grant }

    // SEC-951
    @Test(.timeLimit(.minutes(1)), arguments: Loss.allCases)
    func `a client whose right ends while its request waits gets no event`(_ loss: Loss) async throws {
        let end = try #require(try await events().field("Events-Cursor"))
        _ = try await desk.test.addUser("carol", role: .owner)
        let (alice, now) = (desk.test.alice.id, desk.test.clock.now)
        let grant = try #require(try await store.grants(of: alice, after: nil, limit: 1).first?.grant.id)
        try await desk.test.server.maintenance.sealAudit()
        let last = try #require(try await events("?after=\(end)").field("Events-Cursor"))
        store.before(Self.read) { [store] in
            switch loss {
            case .role: _ = try? await store.setRole(nil, of: alice, from: .owner, at: now, recording: [])
            case .grant: _ = try? await store.revokeGrant(grant, because: .user, at: now)
            }
        }
        let reply = try await events("?after=\(last)&wait=1")
        #expect(reply.status == (loss == .role ? .forbidden : .unauthorized))
        #expect((reply.fields[.wwwAuthenticate] == nil) == (loss == .role))
        #expect(try await events("?after=\(last)").status == reply.status)
    }
}

extension AdministrationDesk {
    /// Records and seals an event.
    fileprivate func append(_ action: AuditEvent.Action) async throws {
        test.clock.advance(by: 0.001)
        try await test.store.appendAudit(AuditEvent(at: test.clock.now, .account, action: action))
        try await test.server.maintenance.sealAudit()
    }
}

extension Reply {
    /// The JSON objects on the lines of the body.
    fileprivate var lines: [[String: Any]] {
        get throws {
            guard case .file(let bytes, "application/x-ndjson") = content else { return [] }
            return try String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
        }
    }

    fileprivate func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
}
