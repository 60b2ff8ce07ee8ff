import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@testable import counterfoil_server

@Suite("audit follow: the reader")
struct AuditFollowerTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// Runs `body` with an empty store.
    private func withStore(_ body: (SQLiteStore) async throws -> Void) async throws {
        let folder = try TemporaryDirectory()
        let store = try SQLiteStore(at: folder.path("counterfoil.db"))
        try await body(store)
        await store.close()
    }

    private func append(_ detail: String, at offset: TimeInterval, to store: SQLiteStore) async throws {
        try await store.appendAudit(AuditEvent(at: Self.now + offset, .setting, detail: detail))
    }

    private func details(_ follower: inout AuditFollower, at offset: TimeInterval) async throws -> [String] {
        var details: [String] = []
        try await follower.look(at: Self.now + offset) { entries in details += entries.compactMap(\.event.detail) }
        return details
    }

    @Test func `an event that is appended late, at an earlier position, is returned once`() async throws {
        try await withStore { store in
            try await append("before the start", at: -100, to: store)
            var follower = try await AuditFollower(newEventsOf: store, at: Self.now)
            try await append("first", at: 0, to: store)
            let look1 = try await details(&follower, at: 1)
            #expect(look1 == ["first"])
            try await append("a request of five seconds", at: -4, to: store)
            let look2 = try await details(&follower, at: 2)
            #expect(look2 == ["a request of five seconds"])
            try await append("a machine that stalled", at: -590, to: store)
            let look3 = try await details(&follower, at: 3)
            #expect(look3 == [])
            let look4 = try await details(&follower, at: 60)
            #expect(look4 == ["a machine that stalled"])
            let look5 = try await details(&follower, at: 120)
            #expect(look5 == [])
        }
    }

    @Test func `a reader continues after a position, and repeats the ten minutes before it`() async throws {
        try await withStore { store in
            try await append("long ago", at: -700, to: store)
            try await append("may have been recorded later", at: -500, to: store)
            for number in 1...1200 { try await append("event \(number)", at: 0, to: store) }
            let last = try #require(try await store.audit(AuditQuery(limit: 1)).first?.position)
            try await append("new", at: 5, to: store)
            var follower = AuditFollower(of: store, after: last)
            let found = try await details(&follower, at: 10)
            #expect(found.count == 1202)
            #expect(found.first == "may have been recorded later" && found.last == "new")
            let look6 = try await details(&follower, at: 100)
            #expect(look6 == [])
        }
    }
}
