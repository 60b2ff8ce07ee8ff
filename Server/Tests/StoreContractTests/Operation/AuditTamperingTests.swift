import CounterfoilPostgreSQL
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import GRDB
import PostgreSQLTesting
import TestSupport
import Testing

/// Changes of the tables of the audit log by an attacker, and the findings of a verification.
struct AuditTamperingTests {
    /// A change of the tables, with the kinds and the seals of the findings.
    struct Tampering: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let statements: [String]
        let findings: [String]

        init(_ name: String, _ statements: String..., findings: String...) {
            testDescription = name
            self.statements = statements
            self.findings = findings
        }

        /// Changes of a log with six events, whose seals have the same numbers.
        static let all = [
            Tampering("nothing"),
            Tampering("a detail", "UPDATE audit SET detail = 'forged' WHERE number = 3", findings: "changed 3"),
            Tampering("a source", "UPDATE audit SET source = NULL WHERE number = 3", findings: "changed 3"),
            Tampering("a time", "UPDATE audit SET at = at + 1 WHERE number = 3", findings: "changed 3"),
            Tampering("a kind", "UPDATE audit SET kind = 'consent' WHERE number = 6", findings: "changed 6"),
            Tampering(
                "an invalid client", "UPDATE audit SET client_id = 'per_x' WHERE number = 1", findings: "changed 1"),
            Tampering("a removed event", "DELETE FROM audit WHERE number = 3", findings: "removed 3"),
            Tampering(
                "an event removed with its seal", "DELETE FROM audit WHERE number = 3",
                "DELETE FROM audit_seals WHERE number = 3", findings: "seals-removed 3"),
            Tampering(
                "the first event", "DELETE FROM audit WHERE number = 1", "DELETE FROM audit_seals WHERE number = 1",
                findings: "seals-removed 1"),
            Tampering(
                "the end", "DELETE FROM audit WHERE number > 4", "DELETE FROM audit_seals WHERE number > 4",
                findings: "end 5"),
            Tampering(
                "an inserted event",
                """
                INSERT INTO audit (number, at, kind, outcome)
                SELECT 100, at + 1, 'sign-in', 'done' FROM audit WHERE number = 3
                """, findings: "inserted"),
            Tampering(
                "an event inserted with a seal",
                """
                INSERT INTO audit (number, at, kind, outcome)
                SELECT 100, at + 1, 'sign-in', 'done' FROM audit WHERE number = 3
                """,
                """
                INSERT INTO audit_seals (number, at, entry, digest, person, detail, chain, code)
                SELECT 7, at + 1, 100, digest, person, detail, chain, code FROM audit_seals WHERE number = 3
                """, findings: "changed 7", "inserted 7"),
            Tampering(
                "an event inserted with a row before the seals",
                """
                INSERT INTO audit (number, at, kind, outcome)
                SELECT 100, at + 1, 'sign-in', 'done' FROM audit WHERE number = 3
                """, "PRAGMA ignore_check_constraints = ON",
                """
                INSERT INTO audit_seals (number, at, entry, digest, person, detail, chain, code)
                SELECT -9223372036854775807 - 1, at + 1, 100, digest, person, detail, chain, code
                FROM audit_seals WHERE number = 3
                """, findings: "inserted"),
            Tampering(
                "two events exchanged", "UPDATE audit SET detail = 'number 3' WHERE number = 2",
                "UPDATE audit SET detail = 'number 2' WHERE number = 3", findings: "changed 2", "changed 3"),
            Tampering(
                "two seals exchanged", "UPDATE audit_seals SET number = 100 WHERE number = 2",
                "UPDATE audit_seals SET number = 2 WHERE number = 3",
                "UPDATE audit_seals SET number = 3 WHERE number = 100", findings: "seal 2", "seal 3"),
            Tampering(
                "a pseudonym of nobody",
                """
                UPDATE audit SET person_id = 'per_removed_' || '\(String(repeating: "A", count: 43))', source = NULL
                WHERE number = 3
                """, "UPDATE audit_seals SET person_salt = NULL WHERE entry = 3", findings: "changed 3"),
            Tampering(
                "a salt", "UPDATE audit_seals SET person_salt = NULL WHERE number = 3", findings: "changed 3"),
            Tampering(
                "a code", "UPDATE audit_seals SET code = chain, digest = chain WHERE number = 3",
                findings: "changed 3"),
            Tampering("a chain value", "UPDATE audit_seals SET chain = digest WHERE number = 3", findings: "seal 3"),
            Tampering("the head", "UPDATE audit_head SET checked_at = checked_at - 1", findings: "head"),
            Tampering("no head", "DELETE FROM audit_head", findings: "head"),
            Tampering(
                "a made-up deletion", "DELETE FROM audit WHERE number = 1",
                """
                INSERT INTO audit_start (id, seal, chain, through_at, through_number, code)
                SELECT 1, 0, chain, at, entry, code FROM audit_seals WHERE number = 1
                """, findings: "start", "removed 1"),
        ]
    }

    private static func fill(_ store: any AuthorizationServerStore) async throws -> Date {
        // The store keeps no source and no detail of a user that it does not know.
        let user = try User.named("alice")
        #expect(try await store.addUser(user) == .added)
        for number in 1...6 {
            try await store.appendAudit(
                AuditEvent(
                    at: World.now + Double(10 * number), .signIn, userID: user.id,
                    source: "192.0.2.\(number)",
                    detail: "number \(number)"))
        }
        let time = World.now + 1200
        try await AuditSealContractTests.seal(store, at: time)
        return time
    }

    private static func tamper(_ path: String, _ statements: String...) async throws {
        let database = try DatabaseQueue(path: path)
        try await database.write { database in
            for statement in statements { try database.execute(sql: statement) }
        }
        try database.close()
    }

    private static func findings(_ store: any AuthorizationServerStore, at time: Date) async throws -> [String] {
        try await AuditSealContractTests.verdict(store, at: time).findings.map { finding in
            finding.kind.rawValue + (finding.seal.map { " \($0)" } ?? "")
        }
    }

    @Test(arguments: Tampering.all)
    func `a change by SQL is found, and nothing else`(_ tampering: Tampering) async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let time = try await Self.fill(store)
        let database = try DatabaseQueue(path: store.path)
        try await database.write { database in
            for trigger in ["audit_is_never_changed", "audit_is_never_shortened", "audit_forgets_salts"] {
                try database.execute(sql: "DROP TRIGGER \(trigger)")
            }
            for statement in tampering.statements { try database.execute(sql: statement) }
        }
        try database.close()
        #expect(try await Self.findings(store, at: time) == tampering.findings)
        await store.close()
    }

    @Test func `changes by SQL are found in a database`() async throws {
        try await TestDatabase.withServer { server, name in
            let store = try await PostgreSQLStore.open(try server.uri(database: name))
            let time = try await Self.fill(store)
            let numbers = try await store.auditLog(after: nil, limit: 9).map(\.number)
            let asReplica = "SET session_replication_role = replica;"
            try server.sql(
                """
                \(asReplica)
                UPDATE audit SET detail = 'forged' WHERE number = \(numbers[1]);
                DELETE FROM audit WHERE number = \(numbers[2]);
                INSERT INTO audit (number, at, kind, outcome)
                    SELECT 1000000, at + 1, 'sign-in', 'done' FROM audit WHERE number = \(numbers[3]);
                DELETE FROM audit WHERE number = \(numbers[5]);
                DELETE FROM audit_seals WHERE number = 6;
                """, database: name)
            #expect(try await Self.findings(store, at: time) == ["changed 2", "removed 3", "end 6", "inserted"])
            await store.close()
        }
    }

    @Test func `an event is found that hides behind a deleted seal`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let time = try await Self.fill(store)
        let second = try await store.auditLog(after: nil, limit: 2)[1].position
        #expect(try await store.removeAudit(through: second, atMost: 9, recording: nil, at: time) == 2)
        #expect(try await Self.findings(store, at: time) == [])
        try await Self.tamper(
            store.path,
            """
            INSERT INTO audit (number, at, kind, outcome)
            SELECT 100, at + 1, 'sign-in', 'done' FROM audit WHERE number = 3
            """,
            """
            INSERT INTO audit_seals (number, at, entry, digest, person, detail, chain, code)
            SELECT 1, at + 1, 100, digest, person, detail, chain, code FROM audit_seals WHERE number = 3
            """)
        let key = try AuditSealContractTests.serverKey
        let verification = AuditVerification(of: store, with: key, after: 6)
        let verdict = try await AuditVerification.run(verification, at: time)
        #expect(verdict.findings.map(\.kind) == [.inserted])
        #expect(verdict.findings.map(\.position?.number) == [100])
        let head = try await store.auditChainEnds().head
        let outcome = try await store.sealAudit(nil, continuing: head, checkedAt: time, with: key, at: time)
        #expect(outcome.isBroken && outcome.head?.seal == 6)
        await store.close()
    }

    // A seal of a key that is not in the list does not authenticate the position of a missing event.
    @Test func `a removed event is not taken for an old one after its key was taken from the list`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        var time = try await Self.fill(store)
        let (both, new) = try AuditSealContractTests.replacement
        try await store.appendAudit(AuditEvent(at: time, .setting, detail: "of the new key"))
        try await AuditSealContractTests.seal(store, with: both, at: time)
        time += 1200
        let log = try await store.auditLog(after: nil, limit: 9)
        #expect(
            try await store.removeAudit(through: log[0].position, atMost: 9, recording: nil, with: new, at: time) == 1)
        try await Self.tamper(
            store.path, "DROP TRIGGER audit_is_never_shortened", "DELETE FROM audit WHERE number = 2",
            "UPDATE audit_seals SET at = (SELECT through_at FROM audit_start) - 1 WHERE number = 2")
        let kinds = { (time: Date) in
            try await AuditSealContractTests.verdict(store, with: new, at: time).findings.map(\.kind)
        }
        #expect(try await kinds(time) == [.removed])
        // Nor does the next deletion.
        #expect(
            try await store.removeAudit(through: log[2].position, atMost: 9, recording: nil, with: new, at: time) == 1)
        #expect(try await kinds(time).contains(.removed))
        await store.close()
    }

    // The chain continues after a loss, and a gap in the numbers of the seals keeps showing it.
    @Test func `events are sealed after the end of the log was cut, and the gap stays`() async throws {
        let directory = try TemporaryDirectory()
        let store = try SQLiteStore(at: directory.path("store.sqlite"))
        let time = try await Self.fill(store)
        let known = try await store.auditChainEnds().head
        let database = try DatabaseQueue(path: store.path)
        try await database.write { database in
            try database.execute(sql: "DELETE FROM audit_seals WHERE number > 4; DELETE FROM audit_head")
        }
        try database.close()
        try await store.appendAudit(AuditEvent(at: time, .setting, detail: "after the cut"))
        let records = try await store.unsealedAudit(after: nil, limit: 9)
        #expect(records.map(\.detail) == ["number 5", "number 6", "after the cut"])
        let range = AuditSealRange(after: nil, through: records[2].position, limit: 9)
        let outcome = try await store.sealAudit(
            range, continuing: known, checkedAt: time, with: AuditSealContractTests.serverKey, at: time)
        #expect(outcome.isBroken && outcome.count == 3 && outcome.head?.seal == 10)
        #expect(try await Self.findings(store, at: time) == ["seals-removed 7"])
        try await store.appendAudit(AuditEvent(at: time, .setting, detail: "later"))
        try await AuditSealContractTests.seal(store, at: time)
        #expect(try await Self.findings(store, at: time) == ["seals-removed 7"])
        await store.close()
    }
}
