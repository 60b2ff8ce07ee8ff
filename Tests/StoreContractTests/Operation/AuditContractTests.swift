import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import Foundation
import GRDB
import TestSupport
import Testing

@Suite("The contract: the audit log")
struct AuditContractTests {
    @Test(arguments: StoreKind.allCases)
    func `events are returned newest first, and by kind, user, client and time`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let first = AuditEvent(
                at: World.now, .signIn, .refused, personID: world.person.id, source: "192.0.2.1", requestID: "r1")
            let second = AuditEvent(
                at: World.now + 60, .consent, personID: world.person.id, clientID: world.client.id,
                grantID: GrantIdentifier(), source: "192.0.2.1", requestID: "r2", detail: "openid photos.read")
            let third = AuditEvent(at: World.now + 120, .application, clientID: world.client.id, detail: "changed")
            for event in [first, second, third] { try await store.appendAudit(event) }

            func asked(_ query: AuditQuery) async throws -> [AuditEvent] { try await store.audit(query).map(\.event) }
            #expect(try await asked(AuditQuery()) == [third, second, first])
            #expect(try await asked(AuditQuery(kind: .consent)) == [second])
            #expect(try await asked(AuditQuery(personID: world.person.id)) == [second, first])
            #expect(try await asked(AuditQuery(clientID: world.client.id)) == [third, second])
            #expect(try await asked(AuditQuery(since: World.now + 60)) == [third, second])
            let newest = try await store.audit(AuditQuery(limit: 1))
            #expect(newest.map(\.event) == [third])
            #expect(try await asked(AuditQuery(before: newest.first?.number, limit: 1)) == [second])
        }
    }

    // SEC-39
    @Test(arguments: StoreKind.allCases)
    func `old events can be deleted, which is recorded in the same transaction`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let start = try await store.auditLog(after: 0, limit: 100).last?.number ?? 0
            for number in 1...6 {
                try await store.appendAudit(AuditEvent(at: World.now, .setting, detail: "\(number)"))
            }
            let log = try await store.auditLog(after: start, limit: 100)
            #expect(log.map(\.event.detail) == ["1", "2", "3", "4", "5", "6"])
            #expect(try await store.auditLog(after: log[1].number, limit: 2).map(\.event.detail) == ["3", "4"])

            let removal = AuditEvent(at: World.now, .auditRemoval, detail: "first")
            #expect(
                try await store.removeAudit(through: log[2].number, atMost: start + 2, recording: removal) == start + 2)
            #expect(try await store.removeAudit(through: log[2].number, atMost: 100, recording: nil) == 1)
            #expect(try await store.removeAudit(through: log[2].number, atMost: 100, recording: nil) == 0)
            let left = try await store.auditLog(after: 0, limit: 100)
            #expect(left.map(\.event.detail) == ["4", "5", "6", "first"])
            #expect(left.first?.number == log[3].number)

            // The event of a removal is kept, whichever number is given.
            let last = AuditEvent(at: World.now, .auditRemoval, detail: "second")
            #expect(try await store.removeAudit(through: 1_000_000, atMost: 100, recording: last) == 4)
            #expect(try await store.auditLog(after: 0, limit: 100).map(\.event) == [last])
        }
    }

    // SEC-38
    @Test func `no event can be changed, and only a recorded removal deletes events`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        try await store.appendAudit(AuditEvent(at: World.now, .setting, detail: "branding"))
        let database = try DatabaseQueue(path: store.path)
        for statement in [
            "UPDATE audit SET kind = 'consent'", "DELETE FROM audit",
            "REPLACE INTO audit (number, at, kind, outcome) VALUES (1, 0, 'x', 'y')",
            "INSERT INTO audit_removal (through) VALUES (0); DELETE FROM audit",
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
        let second = AuditEvent(at: World.now, .setting, detail: "second")
        #expect(try await store.removeAudit(through: 1, atMost: 10, recording: second) == 1)
        await #expect(throws: DatabaseError.self) {
            try await database.write { database in try database.execute(sql: "DELETE FROM audit") }
        }
        #expect(try await store.audit(AuditQuery()).map(\.event) == [second])
        await store.close()
    }

    // SEC-38, SEC-342
    @Test func `the only change of an event is the pseudonym of a deleted user`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let world = try await World(in: store)
        let bob = try await world.adding("bob")
        for person in [world.person, bob.person] {
            try await store.appendAudit(
                AuditEvent(at: World.now, .signIn, personID: person.id, source: "192.0.2.7", detail: "device"))
        }
        #expect(try await world.beginRemoval() == .begun([]))
        let (ada, pseudonym) = (world.person.id.rawValue, try World.terms(of: world.person).pseudonym.rawValue)
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
            "\(allowed) WHERE person_id = '\(bob.person.id)'",
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
