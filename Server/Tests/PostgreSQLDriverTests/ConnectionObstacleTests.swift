import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQLDriver

/// The causes for which a server gives no connection.
///
/// `ConnectionURITests` has those of the user, the password and the name of the database.
@Suite("PostgreSQL: refused connections", .timeLimit(.minutes(2)))
struct ConnectionObstacleTests {
    /// Returns the reason of the server, which must be a limit on connections.
    private static func limit(_ uri: ConnectionURI) throws -> String {
        let failure = try #require(#expect(throws: ConnectionFailure.self) { try Connection.open(uri) })
        guard case .unreachable(let reason, .connectionLimit) = failure else {
            Issue.record("\(failure)")
            return ""
        }
        return reason
    }

    @Test func `a read-only database is told from one that does not answer`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let name = "read_only_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
        try server.sql("CREATE DATABASE \(name)", "ALTER DATABASE \(name) SET default_transaction_read_only = on")
        for attributes in ["read-write", "any"] {
            let uri = try server.connectionURI(database: name, "target_session_attrs=\(attributes)")
            #expect(throws: ConnectionFailure.readOnly) { try Connection.open(uri) }
        }
    }

    @Test func `a limit on connections is named`() async throws {
        let server = try await PostgreSQLServer.start("max_connections=2", "superuser_reserved_connections=1")
        try server.sql(
            "CREATE ROLE one LOGIN CONNECTION LIMIT 0", "CREATE ROLE two LOGIN",
            "CREATE DATABASE narrow CONNECTION LIMIT 0")
        #expect(try Self.limit(server.connectionURI(user: "one")).contains("too many connections for role"))
        // Until the session before has ended, there is no place at all.
        _ = try await Waiting.until("a place") {
            let reason = try Self.limit(server.connectionURI(user: "two", database: "narrow"))
            return reason.contains("too many connections for database") ? true : nil
        }
        // The place that is left is for superusers.
        let holder = try await Waiting.until("a place") {
            try? Connection.open(server.connectionURI(user: "two")).connection
        }
        _ = try Self.limit(server.connectionURI(user: "two"))
        holder.close()
        try await server.stop()
    }

    @Test func `what fails before PostgreSQL answers has its cause`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let port = try ReservedPort()
        for (uri, words, obstacle) in [
            (try server.connectionURI("sslmode=require"), "does not support SSL", ConnectionObstacle.encryption),
            (try server.connectionURI(port: port.number), "Connection refused", .noListener),
            (try ConnectionURI("postgresql://me@%2Fnowhere/x"), "No such file or directory", .noListener),
            (try ConnectionURI("postgresql://me@host.invalid/x"), "could not translate host name", .unknownHost),
        ] {
            let failure = try #require(#expect(throws: ConnectionFailure.self) { try Connection.open(uri) })
            guard case .unreachable(let reason, obstacle) = failure else {
                Issue.record("\(failure)")
                continue
            }
            #expect(reason.contains(words), "\(reason)")
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
    func `a SQLSTATE or a text of libpq has one cause`(state: String, text: String, obstacle: ConnectionObstacle) {
        #expect(ConnectionObstacle(state.isEmpty ? nil : SQLState(state), saying: text) == obstacle)
    }
}
