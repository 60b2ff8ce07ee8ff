import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import PostgreSQLTesting
import TestSupport
import Testing

/// A server that starts while its database does not answer.
@Suite(.timeLimit(.minutes(10)))
struct StartWithoutDatabaseTests {
    private static func answer(_ site: Site, _ path: String) async throws -> WebPage {
        var agent = UserAgent()
        return try await agent.send(.get, site.issuer + path)
    }

    @Test func `a server that starts without its database waits for it, and is not ready meanwhile`() async throws {
        let database = try await PostgreSQLServer.start()
        try await StoreOfSite.make(in: database) { site in
            try await database.stop()
            let socket = try NotifySocket(at: site.folder.path("notify"))
            let server = try RunningProgram(
                .server,
                ["serve", "--issuer", site.issuer, "--listen", "127.0.0.1:\(site.port)"] + site.storeOptions,
                environment: site.storeEnvironment.merging(["NOTIFY_SOCKET": site.folder.path("notify")]) { $1 },
                in: site.folder)
            try await server.whileRunning {
                let live = try await Waiting.until("an answer") { try? await Self.answer(site, "/livez") }
                #expect(live.status == 200)
                #expect(live.body == #"{"status":"alive"}"#)
                #expect(try await Self.answer(site, "/readyz/process").body == #"{"status":"starting"}"#)
                for path in ["/readyz", "/oauth2/jwks", "/.well-known/openid-configuration", "/account"] {
                    let page = try await Self.answer(site, path)
                    #expect(page.status == 503, "\(path)")
                    #expect(page.header("retry-after") == "5")
                    #expect(page.header("cache-control") == "no-store")
                    #expect(page.body == #"{"status":"starting","store":"unavailable"}"#)
                }
                #expect(server.errors.contains("starting without the database"))
                // A reload changes nothing in what the server waits for, and is made up for later.
                try server.signal("HUP")
                _ = try await server.said("that it reads the settings later") { program in
                    program.errors.contains("the settings are read again when the store is open") ? true : nil
                }

                try await database.start()
                _ = try await server.said("that it serves") { program in
                    program.errors.contains("Counterfoil serves ") ? true : nil
                }
                _ = try await server.said("that it has read the settings") { program in
                    program.errors.contains("read the settings again") ? true : nil
                }
                let ready = try await Self.answer(site, "/readyz")
                #expect(ready.status == 200)
                #expect(ready.body == #"{"status":"ready","store":"available"}"#)
                let keys = try await Self.answer(site, "/oauth2/jwks")
                #expect(keys.status == 200)

                // An outage after that ends readiness, and the metadata and the keys stay.
                try await database.stop()
                let outage = try await Waiting.until("that the server is not ready") {
                    let page = try await Self.answer(site, "/readyz")
                    return page.status == 503 ? page : nil
                }
                #expect(outage.body == #"{"status":"degraded","store":"unavailable"}"#)
                #expect(try await Self.answer(site, "/readyz/process").body == #"{"status":"ready"}"#)
                #expect(try await Self.answer(site, "/oauth2/jwks").body == keys.body)
                #expect(try await Self.answer(site, "/.well-known/openid-configuration").status == 200)
                let states = socket.messages.states.filter { $0.hasPrefix("READY=1") }
                #expect(states.prefix(2) == Array(repeating: "READY=1\nSTATUS=Waiting for the database", count: 2)[...])
                #expect(states.last == "READY=1\nSTATUS=Serving requests")
            }
        }
    }

    @Test func `a server that was never ready stops without its delay, and /readyz says so`() async throws {
        // Nothing listens on the port of the discard service.
        let store = Site.Store.database(
            "postgresql://counterfoil@127.0.0.1:9/none", serverKey: Base64URL.encode(RandomBytes().bytes(32)))
        try await Site.make(on: store) { site in
            let server = try RunningProgram(
                .server,
                ["serve", "--issuer", site.issuer, "--listen", "127.0.0.1:\(site.port)", "--drain-delay", "600"]
                    + site.storeOptions,
                environment: site.storeEnvironment, in: site.folder)
            try await server.whileRunning {
                let first = try await Waiting.until("an answer") { try? await Self.answer(site, "/readyz") }
                #expect(first.body == #"{"status":"starting","store":"unavailable"}"#)
                // A request that has begun before the signal is answered.
                let answer = try await RawConnection.run(port: site.port) { connection in
                    try await connection.send(
                        "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
                    try server.signal("TERM")
                    try await Waiting.until("the end of listening") {
                        await (try? Self.answer(site, "/livez")) == nil ? () : nil
                    }
                    try await connection.send("0\r\n\r\n")
                    return try await connection.everything()
                }
                #expect(RawConnection.status(of: answer) == 503)
                #expect(answer.hasSuffix(#"{"status":"stopping","store":"unavailable"}"#))
                #expect(try await server.ended(within: .seconds(20)).status == 0)
            }
        }
    }
}
