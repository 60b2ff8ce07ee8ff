import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: opening", .timeLimit(.minutes(2)))
struct OpeningTests {
    private static func refusal(_ uri: ConnectionURI) async throws -> ConnectionFailure {
        try #require(
            await #expect(throws: ConnectionFailure.self) { await (try ConnectionThreads.open(uri)).close() })
    }

    /// A server that is silent: the kernel accepts connections, and no program reads them.
    private final class SilentServer {
        let port = try? ReservedPort()
        private let descriptor = socket(AF_INET, streamSocket, 0)

        func listen() throws -> Int {
            let number = try #require(port?.number)
            var yes: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(number).bigEndian
            address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            try #require(isBound && Foundation.listen(descriptor, 8) == 0)
            return number
        }

        deinit { close(descriptor) }
    }

    @Test func `the limits of the session are set, and the text encoding is UTF-8`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let connection = try Connection.open(server.socketURI()).connection
        let sql = """
            SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
                current_setting('idle_in_transaction_session_timeout'), current_setting('client_encoding'),
                current_setting('application_name')
            """
        let settings = try connection.exchange([Statement(sql)], by: .now + .seconds(30)).first?.first { columns in
            var settings: [String] = []
            while columns.hasMore { settings.append(try columns.text()) }
            return settings
        }
        #expect(settings == ["5s", "2s", "10s", "UTF8", "driver tests"])
        try server.sql("CREATE ROLE limited LOGIN", "ALTER ROLE limited SET statement_timeout = '17s'")
        let limited = try Connection.open(server.connectionURI(user: "limited")).connection
        let limit = try limited.exchange([Statement(sql)], by: .now + .seconds(30)).first?.first { columns in
            try columns.text()
        }
        #expect(limit == "17s")
    }

    @Test func `a statement that waits too long for a lock is unavailable`() async throws {
        let server = try await PostgreSQLServer.shared.value
        try server.sql("CREATE TABLE locked (id int8)")
        let lock = try Connection.open(server.connectionURI()).connection
        _ = try lock.exchange([Statement("BEGIN")], by: .now + .seconds(30))
        _ = try lock.exchange([Statement("LOCK TABLE locked")], by: .now + .seconds(30))
        var settings = ConnectionThreads.Settings()
        settings.limits.lock = .milliseconds(50)
        let threads = try await ConnectionThreads.open(server.connectionURI(), settings: settings)
        let fault = await #expect(throws: DatabaseFault.self) {
            try await threads.commit([Statement("INSERT INTO locked VALUES (1)")]) { _ in }
        }
        #expect(
            "\(String(describing: fault))".contains("unavailable") && "\(String(describing: fault))".contains("55P03"))
        await threads.close()
    }

    @Test func `the servers of the string are tried until one can be written`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let readOnly = try await PostgreSQLServer.start("default_transaction_read_only=on")
        let refusing = try CuttingProxy(to: server.port.number)
        refusing.refuse()
        let silent = SilentServer()
        let dead = try ReservedPort()
        let good = server.port.number
        for first in [dead.number, readOnly.port.number, refusing.port, try silent.listen()] {
            for attributes in ["", "&target_session_attrs=any"] {
                let string = try ConnectionURI(
                    "postgresql://counterfoil@127.0.0.1:\(first),127.0.0.1:\(good)/postgres?connect_timeout=1\(attributes)"
                )
                let connection = try Connection.open(string).connection
                let port = try connection.exchange(
                    [Statement("SELECT inet_server_port()")], by: .now + .seconds(30)
                ).first?.first { columns in try columns.integer() }
                #expect(port == Int64(good))
            }
        }
        for attributes in ["", "target_session_attrs=any"] {
            #expect(try await Self.refusal(readOnly.connectionURI(attributes)) == .readOnly)
        }
        refusing.close()
        try await readOnly.stop()
    }

    @Test func `a silent server is refused after connect_timeout`() async throws {
        let silent = SilentServer()
        let refusal = try await Self.refusal(
            ConnectionURI("postgresql://me@127.0.0.1:\(try silent.listen())/x?connect_timeout=1"))
        #expect("\(refusal)".contains("no answer within 1 s"))
    }

    @Test func `a server that does not answer is refused with the reason of libpq`() async throws {
        let port = try ReservedPort()
        let refusal = try await Self.refusal(ConnectionURI("postgresql://me@127.0.0.1:\(port.number)/x"))
        #expect("\(refusal)".contains("Connection refused"))
    }

    @Test func `a database with another encoding is refused`() async throws {
        let server = try await PostgreSQLServer.shared.value
        try server.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
        #expect(try await Self.refusal(server.connectionURI(database: "latin")) == .notUTF8(found: "LATIN1"))
    }

    @Test(arguments: [
        ("PostgreSQL 13.2 on x", "130002", ConnectionFailure.tooOld(found: "13", minimum: 14)),
        ("PostgreSQL 9.6 on x", "90600", .tooOld(found: "9", minimum: 14)),
        ("CockroachDB CCL v23.1", "130000", .otherProduct(found: "CockroachDB")),
    ])
    func `an old server and another product are refused`(
        version: String, number: String, failure: ConnectionFailure
    ) async throws {
        let server = try await PostgreSQLServer.shared.value
        // Functions of a schema that is searched first take the place of those of the system.
        let name = "fake_\(number)_\(version.utf8.count)"
        try server.sql(
            "CREATE SCHEMA \(name)", "CREATE ROLE \(name) LOGIN", "GRANT USAGE ON SCHEMA \(name) TO \(name)",
            "CREATE FUNCTION \(name).version() RETURNS text LANGUAGE sql AS $$ SELECT '\(version)' $$",
            """
            CREATE FUNCTION \(name).current_setting(text) RETURNS text LANGUAGE sql AS $$
            SELECT CASE $1 WHEN 'server_version_num' THEN '\(number)' ELSE pg_catalog.current_setting($1) END $$
            """,
            "ALTER ROLE \(name) SET search_path = \(name), pg_catalog")
        #expect(try await Self.refusal(server.connectionURI(user: name)) == failure)
    }

    @Test func `notices of the server are not written to standard error`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let mark = UUID().uuidString
        let directory = try TemporaryDirectory()
        let file = open(directory.path("errors"), O_CREAT | O_RDWR, 0o600)
        let former = dup(2)
        dup2(file, 2)
        let connection = Result {
            try Connection.open(server.connectionURI("options=-cclient_min_messages%3Ddebug1")).connection
        }
        let rows = Result {
            try connection.get().exchange(
                [Statement("DO $$ BEGIN RAISE WARNING '\(mark)'; RAISE NOTICE '\(mark)'; END $$")],
                by: .now + .seconds(30))
        }
        dup2(former, 2)
        close(file)
        close(former)
        _ = try rows.get()
        let errors = try Data(contentsOf: directory.file("errors"))
        #expect(!String(decoding: errors, as: UTF8.self).contains(mark))
        // What other tests have written meanwhile.
        FileHandle.standardError.write(errors)
    }
}
