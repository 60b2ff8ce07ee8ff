import CounterfoilServer
import CounterfoilStore
import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import CounterfoilPostgreSQL

/// The causes for which a server gives no connection, each with its remedy.
///
/// `ConnectionStringTests` has those of the user, the password and the name of the database.
@Suite("PostgreSQL: refused connections", .timeLimit(.minutes(2)))
struct ConnectionObstacleTests {
    private static func text(_ string: ConnectionString) throws -> String {
        "\(try #require(#expect(throws: OpeningRefusal.self) { try Connection.open(string) }))"
    }

    @Test func `a read-only database is told from one that does not answer`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let name = "read_only_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
        try server.sql("CREATE DATABASE \(name)", "ALTER DATABASE \(name) SET default_transaction_read_only = on")
        for attributes in ["read-write", "any"] {
            let uri = try server.uri(database: name, "target_session_attrs=\(attributes)")
            let refusal = #expect(throws: OpeningRefusal.self) { try Connection.open(uri) }
            #expect(refusal == .readOnly(database: "\(uri)"))
            #expect("\(try #require(refusal))".contains("is read-only; connect to the primary, or name all servers"))
        }
    }

    @Test func `a limit on connections is named, with the ways to raise it`() async throws {
        let server = try await PostgreSQLServer.start("max_connections=2", "superuser_reserved_connections=1")
        try server.sql(
            "CREATE ROLE one LOGIN CONNECTION LIMIT 0", "CREATE ROLE two LOGIN",
            "CREATE DATABASE narrow CONNECTION LIMIT 0")
        let role = try Self.text(server.uri(user: "one"))
        #expect(role.contains("too many connections for role"))
        #expect(role.hasSuffix("; \(ConnectionObstacle.connectionLimit.remedy)"))
        // Until the session before has ended, there is no place at all.
        let database = try await Waiting.until("a place") {
            let text = try Self.text(server.uri(user: "two", database: "narrow"))
            return text.contains("too many connections for database") ? text : nil
        }
        #expect(database.hasSuffix("; \(ConnectionObstacle.connectionLimit.remedy)"))
        // The place that is left is for superusers.
        let holder = try await Waiting.until("a place") { try? Connection.open(server.uri(user: "two")).connection }
        #expect(try Self.text(server.uri(user: "two")).hasSuffix("; \(ConnectionObstacle.connectionLimit.remedy)"))
        holder.close()
        try await server.stop()
    }

    @Test func `what fails before PostgreSQL answers has the remedy of its cause`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let port = try ReservedPort()
        for (uri, words, obstacle) in [
            (try server.uri("sslmode=require"), "does not support SSL", ConnectionObstacle.encryption),
            (try server.uri(port: port.number), "Connection refused", .noListener),
            (try ConnectionString("postgresql://me@%2Fnowhere/x"), "No such file or directory", .noListener),
            (try ConnectionString("postgresql://me@host.invalid/x"), "could not translate host name", .unknownHost),
        ] {
            let refusal = try #require(#expect(throws: OpeningRefusal.self) { try Connection.open(uri) })
            guard case .unreachable(_, let reason, obstacle) = refusal else {
                Issue.record("\(refusal)")
                continue
            }
            #expect(reason.contains(words), "\(reason)")
            // The remedy is all that follows the first semicolon.
            #expect("\(refusal)".split(separator: "; ", maxSplits: 1).last == obstacle.remedy[...])
            #expect(!reason.contains("Is the server running"))
        }
    }

    @Test(arguments: [
        ("57P03", "the database system is starting up", ConnectionObstacle.notYet),
        ("28000", "no pg_hba.conf entry for host \"127.0.0.1\", user \"a\", database \"b\", no encryption", .noRule),
        ("53300", "zu viele Verbindungen für Rolle »counterfoil«", .connectionLimit),
        ("08P01", "no more connections allowed (max_client_conn)", .unanswered),
        ("25006", "cannot execute INSERT in a read-only transaction", .readOnly),
        ("XX000", "internal error", .other),
        ("", "SSL error: certificate verify failed", .encryption),
        ("", "server certificate for \"db\" does not match host name \"localhost\"", .encryption),
        ("", "server is in hot standby mode", .readOnly), ("", "timeout expired", .silence),
    ])
    func `a SQLSTATE or a text of libpq has one remedy`(state: String, text: String, obstacle: ConnectionObstacle) {
        #expect(ConnectionObstacle(state.isEmpty ? nil : SQLState(state), saying: text) == obstacle)
    }

    @Test func `every cause has a remedy of its own`() {
        #expect(Set(ConnectionObstacle.allCases.map(\.remedy)).count == ConnectionObstacle.allCases.count)
    }
}
