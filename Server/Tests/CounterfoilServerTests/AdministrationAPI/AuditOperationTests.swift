import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The audit log at the administration API: its order, its beginning and what can still change.
struct AuditOperationTests {
    private let desk: AdministrationDesk
    private let token: AccessToken

    init() async throws {
        desk = try await AdministrationDesk()
        token = try await desk.token("counterfoil.admin.audit:read")
    }

    private func events(_ query: String) async throws -> Reply {
        try await desk.send(.get, "/audit-events?kind=audit-export&" + query, as: token)
    }

    /// Appends an event.
    private func append(_ detail: String, secondsAgo seconds: TimeInterval) async throws {
        let time = desk.test.clock.now - seconds
        try await desk.test.store.appendAudit(AuditEvent(at: time, .auditExport, detail: detail))
    }

    @Test func `events are listed from the oldest on, without those that may still get an earlier neighbour`()
        async throws
    {
        for (index, age) in [3000.0, 2000, 1000, 10].enumerated() {
            try await append("number \(index)", secondsAgo: age)
        }
        let newest = try await events("sort=newest").items("detail")
        #expect(newest == ["number 3", "number 2", "number 1", "number 0"])
        let first = try await events("sort=oldest&settled=true&limit=2")
        #expect(try first.items("detail") == ["number 0", "number 1"])
        let cursor = try #require(try first.members["next"] as? String)
        let second = try await events("sort=oldest&settled=true&limit=2&cursor=\(cursor)")
        #expect(try second.items("detail") == ["number 2"] && second.members["next"] == nil)
        #expect(try await events("settled=true").items("detail") == ["number 2", "number 1", "number 0"])
        // A cursor belongs to an order.
        #expect(try await events("sort=newest&settled=true&cursor=\(cursor)").refusedParts == ["cursor"])
    }

    @Test func `a page ends before a position`() async throws {
        for index in 0...2 { try await append("number \(index)", secondsAgo: 100 - TimeInterval(index)) }
        let positions = try await events("limit=3").items("position")
        #expect(try await events("before=\(positions[1])").items("detail") == ["number 0"])
        let page = try await events("before=\(positions[0])&limit=1")
        #expect(try page.items("detail") == ["number 1"])
        let next = try #require(try page.members["next"] as? String)
        #expect(try await events("before=\(positions[0])&limit=1&cursor=\(next)").items("detail") == ["number 0"])
    }

    @Test(arguments: [("before=1", "before"), ("sort=kind", "sort"), ("settled=1", "settled")])
    func `a parameter that is not understood gets 400`(_ query: String, _ part: String) async throws {
        let reply = try await events(query)
        #expect(reply.status == .badRequest)
        #expect(try reply.refusedParts == [part])
    }
}
