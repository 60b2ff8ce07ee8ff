import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: the outcomes of commits", .timeLimit(.minutes(2)))
struct CommitOutcomeTests {
    /// A table of its own, and connections to it through a proxy.
    private struct Table {
        let server: PostgreSQLServer
        let proxy: CuttingProxy
        let threads: ConnectionThreads
        let name = "t_" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()

        init(threads count: Int = 2) async throws {
            server = try await PostgreSQLServer.shared.value
            proxy = try CuttingProxy(to: server.port.number)
            var settings = ConnectionThreads.Settings()
            settings.threads = count
            threads = try await ConnectionThreads.open(server.connectionURI(port: proxy.port), settings: settings)
            try server.sql("CREATE TABLE \(name) (id int8 PRIMARY KEY, value text)")
        }

        var rows: [String] { get throws { try server.sql("SELECT value FROM \(name) ORDER BY id") } }

        var insert: Statement { Statement("INSERT INTO \(name) VALUES ($1, $2)", 1, "a") }

        func close() async {
            await threads.close()
            proxy.close()
        }
    }

    private static func opening(_ isolation: String) -> TransactionOpening {
        TransactionOpening([Statement("BEGIN ISOLATION LEVEL \(isolation)")])
    }

    private static func expectUnconfirmed(_ body: () async throws -> Void) async {
        let error = await #expect(throws: DatabaseFault.self) { try await body() }
        guard case .unconfirmed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    private static func expectUnavailable(_ body: () async throws -> Void) async {
        let error = await #expect(throws: DatabaseFault.self) { try await body() }
        guard case .unavailable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [CuttingProxy.Cut.before, .halfway, .afterwards], [false, true])
    func `a commit whose answer does not arrive is unconfirmed`(cut: CuttingProxy.Cut, inOneRoundTrip: Bool)
        async throws
    {
        let table = try await Table()
        let (name, proxy) = (table.name, table.proxy)
        await Self.expectUnconfirmed {
            if inOneRoundTrip {
                // Opens the connection before the cut.
                try await table.threads.openConnections(2)
                proxy.cutNext(cut)
                try await table.threads.commit([table.insert]) { _ in }
            } else {
                try await table.threads.commit { transaction in
                    try transaction.run("INSERT INTO \(name) VALUES ($1, $2)", 1, "a")
                    proxy.cutNext(cut)
                }
            }
        }
        #expect(try table.rows == (cut == .afterwards ? ["a"] : []))
        await table.close()
    }

    @Test(arguments: [CuttingProxy.Cut.before, .halfway, .afterwards])
    func `a repeatable commit whose answer does not arrive is sent again on another connection`(
        cut: CuttingProxy.Cut
    ) async throws {
        let table = try await Table()
        let proxy = table.proxy
        let statement = Statement(table.insert.sql + " ON CONFLICT DO NOTHING", 1, "a")
        try await table.threads.openConnections(2)
        proxy.cutNext(cut)
        let changes = try await table.threads.commit([statement], isRepeatable: true) { $0.map(\.changes) }
        #expect(changes == (cut == .afterwards ? [0] : [1]))
        #expect(try table.rows == ["a"])
        await table.close()
    }

    @Test func `an error of the second try does not hide that the result of the first is unknown`() async throws {
        let table = try await Table()
        try await table.threads.openConnections(2)
        table.proxy.cutNext(.afterwards)
        // The second try violates the primary key.
        await Self.expectUnconfirmed { try await table.threads.commit([table.insert], isRepeatable: true) { _ in } }
        #expect(try table.rows == ["a"])
        await table.close()
    }

    @Test(arguments: [CuttingProxy.Cut.before, .halfway, .afterwards])
    func `a transaction whose connection is cut before its commit runs again on another connection`(
        cut: CuttingProxy.Cut
    ) async throws {
        let table = try await Table()
        let (name, proxy) = (table.name, table.proxy)
        let runs = Counter()
        let number = try await table.threads.commit { transaction in
            let run = runs.next()
            try transaction.run("INSERT INTO \(name) VALUES ($1, $2)", 1, "run \(run)")
            if run == 1 { proxy.cutNext(cut) }
            try transaction.run("INSERT INTO \(name) VALUES ($1, $2)", 2, "run \(run)")
            return run
        }
        #expect(number == 2)
        #expect(try table.rows == ["run 2", "run 2"])
        await table.close()
    }

    @Test func `a constraint that fails at the end of the transaction is an error and no success`() async throws {
        let table = try await Table(threads: 1)
        try table.server.sql(
            "ALTER TABLE \(table.name) ADD UNIQUE (value) DEFERRABLE INITIALLY DEFERRED",
            "INSERT INTO \(table.name) VALUES (7, 'a')")
        let insert = table.insert
        let faults = [
            await #expect(throws: DatabaseFault.self) { try await table.threads.commit([insert]) { _ in } },
            await #expect(throws: DatabaseFault.self) {
                try await table.threads.commit { transaction in try transaction.run(insert.sql, 1, "a") }
            },
        ]
        for fault in faults {
            guard case .failed(let reason) = fault else {
                Issue.record("\(String(describing: fault))")
                continue
            }
            #expect(reason.contains("23505") && reason.contains("\(table.name)_value_key"))
            #expect(!reason.contains("(value)=(a)"))
        }
        #expect(try table.rows == ["a"])
        // The connection is still of use.
        #expect(try await table.threads.commit([Statement(insert.sql, 2, "b")]) { $0.map(\.changes) } == [1])
        #expect(table.proxy.accepted <= 2)
        await table.close()
    }

    @Test func `several statements in one round trip are one transaction`() async throws {
        let table = try await Table()
        let statements = [table.insert, Statement(table.insert.sql, 2, "b"), table.insert]
        await #expect(throws: DatabaseFault.self) { try await table.threads.commit(statements) { _ in } }
        #expect(try table.rows == [])
        let changes = try await table.threads.commit(Array(statements.prefix(2))) { $0.map(\.changes) }
        #expect(changes == [1, 1])
        #expect(try table.rows == ["a", "b"])
        await table.close()
    }

    @Test func `a transaction that hides an error of a statement is no success`() async throws {
        let table = try await Table()
        let name = table.name
        await #expect(throws: DatabaseFault.self) {
            try await table.threads.commit { transaction in
                try transaction.run("INSERT INTO \(name) VALUES (1, 'a')")
                _ = try? transaction.run("INSERT INTO \(name) VALUES (1, 'a')")
            }
        }
        #expect(try table.rows == [])
        await table.close()
    }

    @Test func `statements without an answer are sent with the end of the transaction`() async throws {
        let table = try await Table(threads: 1)
        let statements = [table.insert, Statement(table.insert.sql, 2, "b")]
        try await table.threads.commit { transaction in for each in statements { try transaction.runLater(each) } }
        #expect(try table.rows == ["a", "b"])
        let before = table.proxy.chunks
        let more = [Statement(table.insert.sql, 3, "c"), Statement(table.insert.sql, 4, "d")]
        try await table.threads.commit { transaction in for each in more { try transaction.runLater(each) } }
        #expect(table.proxy.chunks == before + 1)
        await table.close()
    }

    @Test func `an error of a statement without an answer fails the commit, even if it is hidden`() async throws {
        let table = try await Table(threads: 1)
        let (name, insert) = (table.name, table.insert)
        for readsAfterwards in [true, false] {
            let fault = await #expect(throws: DatabaseFault.self) {
                try await table.threads.commit { transaction in
                    try transaction.runLater(insert)
                    try transaction.runLater(insert)
                    if readsAfterwards { _ = try? transaction.run("SELECT 1 FROM \(name)") }
                }
            }
            #expect("\(String(describing: fault))".contains("23505"))
            #expect(try table.rows == [])
        }
        await table.close()
    }

    @Test(arguments: [CuttingProxy.Cut.before, .halfway, .afterwards])
    func `a last statement whose answer does not arrive is unconfirmed, even if the closure hides it`(
        cut: CuttingProxy.Cut
    ) async throws {
        let table = try await Table()
        let proxy = table.proxy
        let insert = "INSERT INTO \(table.name) VALUES (1, 'a')"
        try await table.threads.openConnections(2)
        await Self.expectUnconfirmed {
            try await table.threads.commit { transaction in
                proxy.cutNext(cut)
                _ = try? transaction.runLast(Statement(insert))
            }
        }
        #expect(try table.rows == (cut == .afterwards ? ["a"] : []))
        await table.close()
    }

    @Test func `after a last statement that changed something, an error is no failure of the commit`() async throws {
        let table = try await Table(threads: 1)
        let insert = "INSERT INTO \(table.name) VALUES (1, 'a') ON CONFLICT DO NOTHING"
        await Self.expectUnconfirmed {
            try await table.threads.commit { transaction in
                #expect(try transaction.runLast(Statement(insert)).changes == 1)
                throw DatabaseFault.failed("the answer cannot be read")
            }
        }
        #expect(try table.rows == ["a"])
        // It changes nothing now, so what follows is a transaction of its own.
        let update = "UPDATE \(table.name) SET value = 'b'"
        try await table.threads.commit { transaction in
            #expect(try transaction.runLast(Statement(insert)).changes == 0)
            try transaction.run(update)
        }
        #expect(try table.rows == ["b"])
        await table.close()
    }

    @Test(arguments: [false, true])
    func `a statement that cannot be sent fails its transaction, even if the error is hidden`(
        isFirst: Bool
    ) async throws {
        let table = try await Table(threads: 1)
        let name = table.name
        let fault = await #expect(throws: DatabaseFault.self) {
            try await table.threads.commit { transaction in
                if !isFirst { try transaction.run("INSERT INTO \(name) VALUES (1, 'a')") }
                _ = try? transaction.run("INSERT INTO \(name) VALUES (2, $1)", "\0")
                _ = try? transaction.run("INSERT INTO \(name) VALUES (3, 'c')")
            }
        }
        #expect(fault == .failed("a text to be stored contains a NUL character"))
        #expect(try table.rows == [])
        await table.close()
    }

    @Test func `a transaction whose BEGIN fails sends no further statement`() async throws {
        let table = try await Table(threads: 1)
        let name = table.name
        let begin = Statement("BEGIN ISOLATION LEVEL READ COMMITTED").key.name
        try await table.threads.read { transaction in
            _ = try transaction.run("PREPARE \(begin) AS SELECT 1")
        }
        _ = try? await table.threads.commit { transaction in
            _ = try? transaction.run("INSERT INTO \(name) VALUES (1, 'a')")
            _ = try? transaction.run("INSERT INTO \(name) VALUES (2, 'b')")
            throw DatabaseFault.failed("to roll back")
        }
        #expect(try table.rows == [])
        await table.close()
    }

    @Test func `an error of the closure rolls back`() async throws {
        struct Failure: Error {}
        let table = try await Table(threads: 1)
        let name = table.name
        await #expect(throws: Failure.self) {
            try await table.threads.commit { transaction in
                try transaction.run("INSERT INTO \(name) VALUES (1, 'a')")
                throw Failure()
            }
        }
        let seen = try await table.threads.read { transaction in
            try transaction.answers("SELECT EXISTS (SELECT 1 FROM \(name))")
        }
        #expect(seen == [false])
        await table.close()
    }

    @Test func `a serialization failure is tried again`() async throws {
        let table = try await Table()
        let (name, server) = (table.name, table.server)
        try server.sql("INSERT INTO \(name) VALUES (1, '0')")
        let runs = Counter()
        let number = try await table.threads.commit(Self.opening("SERIALIZABLE")) { transaction in
            let run = runs.next()
            let former = try transaction.first("SELECT value FROM \(name) WHERE id = 1") { columns in try columns.text()
            }
            if run == 1 { try server.sql("UPDATE \(name) SET value = 'other' WHERE id = 1") }
            try transaction.run("UPDATE \(name) SET value = $1 WHERE id = 1", "\(former ?? "?"), then mine")
            return run
        }
        #expect(number == 2)
        #expect(try table.rows == ["other, then mine"])
        await table.close()
    }

    @Test func `a lasting serialization failure is unavailable at the deadline`() async throws {
        let table = try await Table()
        let (name, server) = (table.name, table.server)
        try server.sql("INSERT INTO \(name) VALUES (1, '0')")
        await Self.expectUnavailable {
            try await table.threads.commit(Self.opening("REPEATABLE READ"), by: .now + .milliseconds(400)) {
                transaction in
                _ = try transaction.answers("SELECT true FROM \(name)")
                try server.sql("UPDATE \(name) SET value = value || '+' WHERE id = 1")
                try transaction.run("UPDATE \(name) SET value = 'mine' WHERE id = 1")
            }
        }
        #expect(try !table.rows.contains("mine"))
        await table.close()
    }

    @Test func `a caller whose task is cancelled learns the outcome`() async throws {
        let table = try await Table()
        let insert = table.insert
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await table.threads.commit([insert]) { $0.map(\.changes) }
        }
        #expect(try await task.value == [1])
        await table.close()
    }
}
