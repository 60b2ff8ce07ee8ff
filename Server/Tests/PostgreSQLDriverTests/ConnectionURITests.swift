import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: connection URIs", .timeLimit(.minutes(2)))
struct ConnectionURITests {
    @Test(arguments: [
        ("postgresql://me:s3cret@db.example.com/x", "password"), ("postgres://me:s3cret@/x", "password"),
        ("postgresql://db.example.com/x?user=me&password=s3cret", "password"),
        ("postgresql://db.example.com/x?sslpassword=s3cret", "sslpassword"),
    ])
    func `a password in the URI is refused`(text: String, option: String) throws {
        #expect(throws: ConnectionFailure.passwordInURI(option: option)) { try ConnectionURI(text) }
    }

    @Test(arguments: [
        "", "host=db.example.com dbname=x password=s3cret", "mysql://me:s3cret@db.example.com/x",
        "POSTGRESQL://s3cret/x",
        "postgresql://db.example.com/x?s3cret=1", "postgresql://me:s3cret@db.example.com:5432:1/x%zz",
        "postgresql://db.example.com/x%00s3cret", "postgresql://db.example.com/x\0s3cret",
        // libpq takes what is before the `/` for a host and a port.
        "postgresql://me:s3/cret@db.example.com/x", "postgresql://me:5432/s3cret@db.example.com/x?sslmode=require",
        "postgresql://me:s3cret/x", "postgresql://me:54s3cret/x", "postgresql://a:5432,b:s3cret/x",
        "postgresql://a:0/s3cret", "postgresql://a:65536/s3cret", "postgresql://a/x?port=s3cret",
    ])
    func `a text that is no URI of PostgreSQL is refused`(text: String) throws {
        #expect(throws: ConnectionFailure.invalidURI) { try ConnectionURI(text) }
    }

    @Test func `the description has the servers and the database, and no option`() throws {
        let string = try ConnectionURI(
            "postgresql://me@a.example.com,[::1]:5433/store?application_name=x&sslmode=require")
        #expect("\(string)" == "store at a.example.com:5432, [::1]:5433")
        #expect(string.hosts.map(\.port) == ["5432", "5433"])
    }

    @Test func `limits are set unless the URI sets them`() throws {
        let plain = try ConnectionURI("postgresql://a,b/x").defaults
        #expect(plain["target_session_attrs"] == "read-write")
        #expect(plain["tcp_user_timeout"] == "5000")
        #expect(plain["keepalives_idle"] != nil)
        let own = try ConnectionURI(
            "postgresql://a,b/x?target_session_attrs=primary&tcp_user_timeout=7&keepalives_idle=1&connect_timeout=9")
        #expect(own.defaults["target_session_attrs"] == nil && own.defaults["tcp_user_timeout"] == nil)
        #expect(own.defaults["keepalives_idle"] == nil && own.connectLimit == .seconds(9))
    }

    @Test func `an at sign after the host needs an escape, and in an option none`() throws {
        let string = try ConnectionURI("postgresql://a/x%40y?user=me@tenant")
        #expect("\(string)" == "x@y at a:5432")
    }

    @Test func `the longest connect_timeout is no error`() async throws {
        let server = try await PostgreSQLServer.shared.value
        _ = try Connection.open(server.connectionURI("connect_timeout=\(Int.max)"))
    }

    @Test func `an unknown service is refused with its name`() throws {
        let refusal = #expect(throws: ConnectionFailure.self) { try ConnectionURI("postgresql:///?service=nowhere") }
        #expect("\(try #require(refusal))".contains("nowhere"))
    }

    @Test func `a password comes from a password file`() async throws {
        let server = try await PostgreSQLServer.shared.value
        try server.sql("SET password_encryption = 'scram-sha-256'", "CREATE ROLE with_password LOGIN PASSWORD 's3cret'")
        let directory = try TemporaryDirectory()
        try Data("127.0.0.1:*:*:with_password:s3cret\n".utf8).write(to: directory.file("pgpass"))
        chmod(directory.path("pgpass"), 0o600)
        let file = directory.path("pgpass").replacingOccurrences(of: "/", with: "%2F")
        _ = try Connection.open(server.connectionURI(user: "with_password", "passfile=\(file)"))
        let refusal = #expect(throws: ConnectionFailure.self) {
            try Connection.open(server.connectionURI(user: "with_password", "passfile=%2Fnowhere"))
        }
        #expect("\(try #require(refusal))".contains("password"))
        guard case .rejected = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
    }

    @Test func `a password file that others can read is refused, unless the password comes from elsewhere`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("pgpass")
        try Data("127.0.0.1:*:*:ada:s3cret\n".utf8).write(to: directory.file("pgpass"))
        chmod(path, 0o640)
        let uri = "postgresql://ada@127.0.0.1/?passfile=\(path.replacingOccurrences(of: "/", with: "%2F"))"
        let refusal = try #require(#expect(throws: ConnectionFailure.self) { try ConnectionURI(uri) })
        #expect(refusal == .passwordFile(path: path, reason: "other users have rights to it"))
        for variable in ["PGPASSWORD", "PGSERVICE"] {
            try PasswordFile.check(["passfile": path], environment: [variable: "other"])
        }
        #expect(throws: ConnectionFailure.self) { try PasswordFile.check([:], environment: ["PGPASSFILE": path]) }
        #expect(throws: ConnectionFailure.passwordFile(path: directory.path(""), reason: "it is no regular file")) {
            try PasswordFile.check(["passfile": directory.path("")], environment: [:])
        }
        chmod(path, 0o600)
        try PasswordFile.check(["passfile": path], environment: [:])
        try PasswordFile.check([:], environment: ["HOME": directory.path("nowhere")])
    }

    // Another attempt would fail as well, so a script must not take it for an outage.
    @Test func `a wrong password, user or database is told from a server that does not answer`() async throws {
        let server = try await PostgreSQLServer.shared.value
        try server.sql(
            "SET password_encryption = 'scram-sha-256'", "CREATE ROLE with_other_password LOGIN PASSWORD 'geheim'")
        let directory = try TemporaryDirectory()
        try Data("127.0.0.1:*:*:with_other_password:s3cret\n".utf8).write(to: directory.file("pgpass"))
        chmod(directory.path("pgpass"), 0o600)
        let file = directory.path("pgpass").replacingOccurrences(of: "/", with: "%2F")
        try server.sql(
            "CREATE ROLE without_rights LOGIN", "CREATE DATABASE closed",
            "REVOKE CONNECT ON DATABASE closed FROM public")
        for (uri, words, obstacle) in [
            (
                try server.connectionURI(user: "unknown_user"), "role \"unknown_user\" does not exist",
                ConnectionObstacle.noRule
            ),
            (try server.connectionURI(database: "nowhere"), "database \"nowhere\" does not exist", .noDatabase),
            (
                try server.connectionURI(user: "without_rights", database: "closed"), "permission denied for database",
                .noRight
            ),
            (
                try server.connectionURI(user: "with_other_password", "passfile=\(file)"),
                "password authentication failed",
                .password
            ),
            (
                try server.connectionURI(user: "with_other_password", "passfile=%2Fnowhere"), "no password supplied",
                .password
            ),
        ] {
            let refusal = try #require(#expect(throws: ConnectionFailure.self) { try Connection.open(uri) })
            guard case .rejected(let reason, obstacle) = refusal else {
                Issue.record("\(refusal)")
                continue
            }
            #expect(reason.contains(words), "\(reason)")
            #expect(!reason.contains("LOCATION") && !reason.contains(/\b(28P01|28000|3D000|42501)\b/), "\(reason)")
        }
    }
}
