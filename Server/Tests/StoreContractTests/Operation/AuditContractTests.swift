import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import TestSupport
import Testing

@Suite("The contract: the audit log")
struct AuditContractTests {
    @Test(arguments: StoreKind.allCases)
    func `events are returned newest first, and by each condition of a query`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let first = AuditEvent(
                at: World.now, .signIn, .refused, userID: world.user.id, source: "192.0.2.1", requestID: "r1")
            let second = AuditEvent(
                at: World.now + 60, .consent, userID: world.user.id, clientID: world.client.id,
                grantID: GrantIdentifier(), source: "192.0.2.1", requestID: "r2", detail: "openid photos.read")
            let third = AuditEvent(at: World.now + 120, .client, clientID: world.client.id, detail: "changed")
            for event in [first, second, third] { try await store.appendAudit(event) }

            func asked(_ query: AuditQuery) async throws -> [AuditEvent] { try await store.audit(query).map(\.event) }
            #expect(try await asked(AuditQuery()) == [third, second, first])
            #expect(try await asked(AuditQuery(kind: .consent)) == [second])
            #expect(try await asked(AuditQuery(userID: world.user.id)) == [second, first])
            var ofKinds = AuditQuery(userID: world.user.id)
            ofKinds.kinds = [.signIn, .client]
            #expect(try await asked(ofKinds) == [first])
            ofKinds.userID = nil
            #expect(try await asked(ofKinds) == [third, first])
            #expect(try await asked(AuditQuery(clientID: world.client.id)) == [third, second])
            #expect(try await asked(AuditQuery(since: World.now + 60)) == [third, second])
            #expect(try await asked(AuditQuery(until: World.now + 60)) == [first])
            #expect(try await asked(AuditQuery(since: World.now, until: World.now + 120)) == [second, first])
            #expect(try await asked(AuditQuery(outcome: .refused)) == [first])
            #expect(try await asked(AuditQuery(outcome: .done, source: "192.0.2.1")) == [second])
            #expect(try await asked(AuditQuery(source: "192.0.2.2")).isEmpty)
            #expect(try await asked(AuditQuery(requestID: "r2")) == [second])
            #expect(try await asked(AuditQuery(kind: .signIn, requestID: "r2")).isEmpty)
            let newest = try await store.audit(AuditQuery(limit: 1))
            #expect(newest.map(\.event) == [third])
            #expect(try await asked(AuditQuery(before: newest.first?.position, limit: 1)) == [second])
        }
    }

    // Servers that share a store hand out numbers in another order than their commits happen.
    @Test(arguments: StoreKind.allCases)
    func `the log is ordered by time, and events of the same time by number`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            for (seconds, detail) in [(20.0, "third"), (10, "first"), (10, "second"), (30, "fourth")] {
                try await store.appendAudit(AuditEvent(at: World.now + seconds, .setting, detail: detail))
            }
            let log = try await store.auditLog(after: nil, limit: 100)
            #expect(log.map(\.event.detail) == ["first", "second", "third", "fourth"])
            #expect(log.map(\.number).sorted() != log.map(\.number))
            #expect(Set(log.map(\.number)).count == 4)
            #expect(log.map(\.position).sorted() == log.map(\.position))
            for (index, entry) in log.enumerated() {
                let later = try await store.auditLog(after: entry.position, limit: 1)
                #expect(later == Array(log.dropFirst(index + 1).prefix(1)))
                for query in [AuditQuery(), AuditQuery(kind: .setting)] {
                    var query = query
                    query.before = entry.position
                    #expect(try await store.audit(query) == log.prefix(index).reversed())
                }
                #expect(AuditPosition("\(entry.position)") == entry.position)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `old events can be deleted, which is recorded in the same transaction`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            for number in 1...6 {
                try await store.appendAudit(AuditEvent(at: World.now, .setting, detail: "\(number)"))
            }
            let log = try await store.auditLog(after: nil, limit: 100)
            #expect(log.map(\.event.detail) == ["1", "2", "3", "4", "5", "6"])
            #expect(try await store.auditLog(after: log[1].position, limit: 2).map(\.event.detail) == ["3", "4"])

            let later = World.now + 3600
            func remove(_ position: AuditPosition, atMost rows: Int, _ event: AuditEvent? = nil) async throws -> Int {
                try await store.removeAudit(through: position, atMost: rows, recording: event, at: later)
            }
            let removal = AuditEvent(at: later, .auditRemoval, detail: "first")
            #expect(try await remove(log[2].position, atMost: 2, removal) == 2)
            #expect(try await remove(log[2].position, atMost: 100) == 1)
            // Nothing is deleted, so nothing is recorded.
            #expect(try await remove(log[2].position, atMost: 100, removal) == 0)
            let left = try await store.auditLog(after: nil, limit: 100)
            #expect(left.map(\.event.detail) == ["4", "5", "6", "first"])
            #expect(left.first?.number == log[3].number)

            // The event of a removal is kept, whichever position is given.
            let last = AuditEvent(at: later, .auditRemoval, detail: "second")
            let end = AuditPosition(at: .distantFuture, number: .max)
            #expect(try await remove(end, atMost: 100, last) == 3)
            #expect(try await store.auditLog(after: nil, limit: 100).map(\.event) == [removal, last])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deletion up to an exported position keeps an event that was committed late`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let settling = AuditPosition.settlingTime
            let exportedAt = World.now + settling + 60
            func append(_ detail: String, at time: Date) async throws {
                try await store.appendAudit(AuditEvent(at: time, .setting, detail: detail))
            }
            for seconds in [0.0, 30, 90] { try await append("\(Int(seconds))", at: World.now + seconds) }
            let settled = AuditPosition.lastSettled(at: exportedAt)
            let exported = try await store.auditLog(after: nil, limit: 100).filter { $0.position <= settled }
            #expect(exported.map(\.event.detail) == ["0", "30"])

            // A request that began before the export commits after it, between two events that were read by others.
            try await append("late", at: World.now + 70)
            let through = try #require(exported.last?.position)
            #expect(try await store.removeAudit(through: through, atMost: 9, recording: nil, at: exportedAt) == 2)
            let left = try await store.auditLog(after: through, limit: 9)
            #expect(left.map(\.event.detail) == ["late", "90"])

            // A later position deletes nothing that can still get an earlier neighbour.
            let end = try #require(left.last?.position)
            #expect(try await store.removeAudit(through: end, atMost: 9, recording: nil, at: exportedAt) == 0)
            #expect(try await store.removeAudit(through: end, atMost: 9, recording: nil, at: exportedAt + 20) == 1)
            #expect(try await store.auditLog(after: nil, limit: 9).map(\.event.detail) == ["90"])
        }
    }

    @Test func `no event can be changed, and only a recorded removal deletes events`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        try await store.appendAudit(AuditEvent(at: World.now, .setting, detail: "branding"))
        let database = try DatabaseQueue(path: store.path)
        for statement in [
            "UPDATE audit SET kind = 'consent'", "DELETE FROM audit",
            "REPLACE INTO audit (number, at, kind, outcome) VALUES (1, 0, 'x', 'y')",
            "INSERT INTO audit_removal (through_at, through_number) VALUES (0, 9); DELETE FROM audit",
        ] {
            await #expect(throws: DatabaseError.self) {
                try await database.write { database in
                    try database.execute(sql: "PRAGMA recursive_triggers = ON")
                    try database.execute(sql: statement)
                }
            }
        }
        #expect(try await store.audit(AuditQuery()).map(\.event.detail) == ["branding"])
        // A removal does not leave the log open for later deletions.
        let second = AuditEvent(at: World.now + 3600, .setting, detail: "second")
        let first = try #require(try await store.auditLog(after: nil, limit: 1).first)
        #expect(
            try await store.removeAudit(through: first.position, atMost: 9, recording: second, at: second.at) == 1)
        await #expect(throws: DatabaseError.self) {
            try await database.write { database in try database.execute(sql: "DELETE FROM audit") }
        }
        #expect(try await store.audit(AuditQuery()).map(\.event) == [second])
        await store.close()
    }

    @Test func `the only change of an event is the pseudonym of a deleted user`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        let bob = try await world.adding("bob")
        for user in [world.user, bob.user] {
            try await store.appendAudit(
                AuditEvent(at: World.now, .signIn, userID: user.id, source: "192.0.2.7", detail: "device"))
        }
        #expect(try await world.beginRemoval() == .begun([]))
        let (ada, pseudonym) = (world.user.id.rawValue, try World.terms(of: world.user).pseudonym.rawValue)
        let database = try DatabaseQueue(path: store.path)
        let allowed = "UPDATE audit SET person_id = '\(pseudonym)', source = NULL"
        for statement in [
            "UPDATE audit SET person_id = '\(pseudonym)' WHERE person_id = '\(ada)'",
            "UPDATE audit SET person_id = 'per_other', source = NULL WHERE person_id = '\(ada)'",
            "UPDATE audit SET person_id = NULL, source = NULL WHERE person_id = '\(ada)'",
            "UPDATE audit SET source = NULL WHERE person_id = '\(ada)'",
            "\(allowed), detail = 'browser' WHERE person_id = '\(ada)'",
            "\(allowed), kind = 'consent' WHERE person_id = '\(ada)'",
            "\(allowed), outcome = 'refused' WHERE person_id = '\(ada)'",
            "\(allowed), at = at + 1 WHERE person_id = '\(ada)'",
            "\(allowed), client_id = 'app' WHERE person_id = '\(ada)'",
            "\(allowed), grant_id = 'gr_1' WHERE person_id = '\(ada)'",
            "\(allowed), request_id = 'r1' WHERE person_id = '\(ada)'",
            "\(allowed), number = number + 100 WHERE person_id = '\(ada)'",
            "\(allowed) WHERE person_id = '\(bob.user.id)'",
        ] {
            await #expect(throws: DatabaseError.self, "\(statement)") {
                try await database.write { database in try database.execute(sql: statement) }
            }
        }
        try await database.write { database in
            try database.execute(sql: "\(allowed), detail = NULL WHERE person_id = '\(ada)'")
            #expect(database.changesCount == 1)
        }
        try database.close()
        await store.close()
    }
}
