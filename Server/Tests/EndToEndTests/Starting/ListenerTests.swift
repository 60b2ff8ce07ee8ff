import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The addresses at which a server listens, and whom it believes there.
@Suite(.timeLimit(.minutes(10)))
struct ListenerTests {
    private static func get(_ path: String, _ fields: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields)Connection: close\r\n\r\n"
    }

    private static let forwarded = """
        X-Forwarded-For: 203.0.113.9\r\nX-Request-ID: req-7\r\n\
        traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n
        """

    private static func status(at path: String, _ request: String) async throws -> Int? {
        try await RawConnection.run(unixSocket: path) { connection in
            try await connection.send(request)
            return RawConnection.status(of: try await connection.everything())
        }
    }

    /// Returns the event of the next request that is logged for `/nothing`.
    private static func logged(
        _ site: Site, _ options: [String], at path: String
    ) async throws -> [String: String] {
        let server = try await site.start(
            listen: ["unix:\(path)", "127.0.0.1:\(site.port)"],
            options: options + ["--log-format", "json", "--log-level", "info"])
        return try await server.whileRunning {
            #expect(try await Self.status(at: path, Self.get("/nothing", Self.forwarded)) == 404)
            return try await server.said("the request") { program in
                try program.logEvents.first { $0["message"] == "answered" && $0["status"] == "404" }
            }
        }
    }

    @Test func `a proxy at a Unix socket is believed only if the operator trusts it`() async throws {
        try await Site.make { site in
            let path = site.folder.path("http.sock")
            let trusted = try await Self.logged(site, ["--trusted-proxy", "unix"], at: path)
            #expect(trusted["source"] == "203.0.113.9")
            #expect(trusted["request"] == "req-7")
            #expect(trusted["trace"] == "4bf92f3577b34da6a3ce929d0e0e4736")
            // A server that has stopped leaves no file.
            #expect(!FileManager.default.fileExists(atPath: path))

            let stranger = try await Self.logged(site, [], at: path)
            #expect(stranger["source"] == "unix")
            #expect(stranger["request"] != "req-7" && stranger["request"]?.isEmpty == false)
            #expect(stranger["trace"] == nil)
        }
    }

    @Test func `a Unix socket is for the user and the group, and replaces only an unused one`() async throws {
        try await Site.make { site in
            let path = site.folder.path("http.sock")
            let listen = ["127.0.0.1:\(site.port)", "unix:\(path)"]
            func mode() throws -> Int? {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                return (attributes[.posixPermissions] as? NSNumber)?.intValue
            }
            let killed = try await site.start(listen: listen)
            #expect(try mode() == 0o660)
            #expect(try await Self.status(at: path, Self.get("/livez")) == 200)
            var agent = UserAgent()
            #expect(try await agent.send(.get, site.issuer + "/livez").status == 200)
            let other = try await site.server([
                "serve", "--issuer", site.issuer, "--listen", "unix:\(path)", "--data-dir", site.folder.path("other"),
            ])
            #expect(other.status == 3)
            #expect(other.errors.contains("another program listens at \(path)"))
            try killed.signal("KILL")
            _ = try await killed.ended()

            // The file of the killed server is still there.
            #expect(FileManager.default.fileExists(atPath: path))
            try await site.start(listen: listen).whileRunning {
                let status = try await Self.status(at: path, Self.get("/livez"))
                #expect(status == 200)
            }
            try Data("text".utf8).write(to: URL(fileURLWithPath: path))
            let refused = try await site.administer([
                "serve", "--issuer", site.issuer, "--listen", "unix:\(path)",
            ])
            #expect(refused.status == 3)
            #expect(refused.errors.contains("exists and is not a socket"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("text".utf8))
        }
    }
}
