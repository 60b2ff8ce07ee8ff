import Foundation
import PostgreSQLTesting
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: prepared statements", .timeLimit(.minutes(2)))
struct PreparedStatementTests {
    private static func threads(_ count: Int) async throws -> ConnectionThreads {
        var settings = ConnectionThreads.Settings()
        settings.threads = count
        return try await ConnectionThreads.open(PostgreSQLServer.shared.value.connectionURI(), settings: settings)
    }

    @Test func `a name that another client of a pooler has taken costs no request`() async throws {
        let threads = try await Self.threads(1)
        let statement = Statement("SELECT 2")
        try await threads.read { transaction in
            _ = try transaction.run("PREPARE \(statement.key.name) AS SELECT 1")
        }
        let number = try await threads.read { transaction in
            try transaction.first(statement.sql) { columns in try columns.integer() }
        }
        #expect(number == 2)
        await threads.close()
    }

    @Test func `a statement that is gone costs no request`() async throws {
        let threads = try await Self.threads(1)
        for _ in 0..<2 {
            let number = try await threads.read { transaction in
                try transaction.first("SELECT 3") { columns in try columns.integer() }
            }
            #expect(number == 3)
            try await threads.read { transaction in _ = try transaction.run("DEALLOCATE ALL") }
        }
        await threads.close()
    }

    @Test func `a change of the schema costs no request, however many connections have prepared its statements`()
        async throws
    {
        let server = try await PostgreSQLServer.shared.value
        let name = "p_" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
        try server.sql("CREATE TABLE \(name) (id int8)", "INSERT INTO \(name) VALUES (1)")
        let threads = try await Self.threads(5)
        try await threads.openConnections(5, running: "SELECT * FROM \(name)")
        try server.sql("ALTER TABLE \(name) ADD value int8")
        let row = try await threads.read { transaction in
            try transaction.first("SELECT * FROM \(name)") { columns in
                (try columns.integer(), try columns.optionalInteger())
            }
        }
        #expect(row?.0 == 1 && row?.1 == nil)
        try await threads.commit { transaction in _ = try transaction.run("SELECT * FROM \(name)") }
        await threads.close()
    }
}
