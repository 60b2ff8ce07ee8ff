@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilTokens
import Foundation
import HTTPTypes
import PostgreSQLTesting
import TestSupport
import Testing

/// Servers on a PostgreSQL database.
@Suite(.timeLimit(.minutes(10)))
struct DatabaseTests {
    private static func register(at site: Site) async throws -> String {
        try await site.add(.alice)
        try await site.addScope("photos.read", "See your photos and albums")
        return try await site.registerClient(options: ["--refresh-tokens", "always"])
    }

    private static func refresh(_ page: WebPage, of clientID: String, at site: Site) async throws -> WebPage {
        struct Tokens: Decodable {
            let refresh_token: String
        }
        let token = try JSONDecoder().decode(Tokens.self, from: Data(page.body.utf8)).refresh_token
        var agent = UserAgent()
        return try await agent.send(
            .post, "\(site.issuer)/oauth2/token",
            form: FormParameters(["grant_type": "refresh_token", "client_id": clientID, "refresh_token": token]))
    }

    @Test func `a server opens no more connections than its setting allows, and one is enough`() async throws {
        let database = try await PostgreSQLServer.shared.value
        try await StoreOfSite.make(in: database) { site in
            let clientID = try await Self.register(at: site)
            let server = try await site.start(
                options: ["--database-connections", "1", "--metrics-listen", "127.0.0.1:0"])
            try await server.whileRunning {
                let request = ClientAuthorizationRequest(site, clientID)
                var browser = UserAgent()
                let consent = try await Account.alice.signIn(request.url, in: &browser)
                let allow = try consent.form(withButton: "allow")
                let tokens = try await request.redeem(try await browser.submit(allow, ["decision": "allow"]).code)
                #expect(tokens.status == 200)
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<20 {
                        group.addTask { try await Self.refresh(tokens, of: clientID, at: site).status }
                    }
                    for try await status in group { #expect(status != 503) }
                }
                let name = site.storeOptions.last?.split(separator: "/").last ?? ""
                let open = try database.sql(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(name)' AND application_name = 'counterfoil'"
                )
                #expect(open == ["1"])
                let metrics = try await server.said("where metrics are") { program in
                    program.errors.firstMatch(of: /Metrics are at (http:\S+\/metrics)\./).map { String($0.output.1) }
                }
                var agent = UserAgent()
                let text = try await agent.send(.get, metrics).body
                #expect(text.contains("\ncounterfoil_store_connections_limit 1\n"))
            }
        }
    }

    @Test func `a database that stops and starts again gives 503 meanwhile, and signs no user out`() async throws {
        let database = try await PostgreSQLServer.start()
        try await StoreOfSite.make(in: database) { site in
            let clientID = try await Self.register(at: site)
            try await site.serving {
                let request = ClientAuthorizationRequest(site, clientID)
                var browser = UserAgent()
                let consent = try await Account.alice.signIn(request.url, in: &browser)
                let allow = try consent.form(withButton: "allow")

                try await database.stop()
                let refused = try await browser.submit(allow, ["decision": "allow"])
                #expect(refused.status == 503)
                #expect(refused.header("retry-after") == "5")
                #expect(refused.heading == "The service is unavailable right now")
                #expect(!refused.body.contains("PostgreSQL") && !refused.body.contains("127.0.0.1"))

                try await database.start()
                // The server notices within a moment that the database answers again.
                let proceed = try await Waiting.until("an answer of the server") {
                    let page = try await browser.submit(allow, ["decision": "allow"])
                    return page.status == 503 ? nil : page
                }
                let code = try proceed.code
                let tokens = try await request.redeem(code)
                #expect(tokens.status == 200)

                try await database.stop()
                #expect(try await Self.refresh(tokens, of: clientID, at: site).status == 503)
                try await database.start()
                _ = try await Waiting.until("a refresh") {
                    let page = try await Self.refresh(tokens, of: clientID, at: site)
                    #expect([200, 503].contains(page.status), "\(page.body)")
                    return page.status == 200 ? true : nil
                }
            }
        }
        try await database.stop()
    }

    @Test func `a code is redeemed once, by whichever of two servers`() async throws {
        let store = try await StoreOfSite.store(in: PostgreSQLServer.shared.value)
        try await Site.make(on: store) { first in
            try await Site.make(on: store) { second in
                let clientID = try await Self.register(at: first)
                // Behind a load balancer, both servers have one issuer.
                let other = try await second.start(issuer: first.issuer)
                try await first.serving {
                    let request = ClientAuthorizationRequest(first, clientID)
                    var browser = UserAgent()
                    let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
                    let code = try page.code
                    async let here = request.redeem(code)
                    async let there = request.redeem(code, at: second)
                    let statuses = try await [here.status, there.status]
                    #expect(statuses.filter { $0 == 200 }.count == 1, "\(statuses)")
                }
                await other.stop()
            }
        }
    }

    @Test func `a server refuses a database without tables, and one without a server key`() async throws {
        let database = try await PostgreSQLServer.shared.value
        let name = "without_tables_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
        try database.sql("CREATE DATABASE \(name)")
        let uri = "postgresql://counterfoil@127.0.0.1:\(database.port.number)/\(name)"
        try await Site.make { site in
            let serve = ["serve", "--issuer", site.issuer, "--listen", "127.0.0.1:\(site.port)", "--database", uri]
            let withoutKey = try await site.server(serve)
            #expect(withoutKey.status == 3)
            #expect(
                withoutKey.errors == """
                    counterfoil-server: the server key is missing; set COUNTERFOIL_SERVER_KEY, name a file with \
                    --server-key-file, or load the credential server-key with systemd

                    """)
            let key = site.folder.path("server.key")
            try Data(RandomBytes().bytes(32)).write(to: URL(fileURLWithPath: key))
            chmod(key, 0o600)
            let withoutTables = try await site.server(serve + ["--server-key-file", key])
            #expect(withoutTables.status == 3)
            #expect(
                withoutTables.errors.contains("has no tables of Counterfoil; create them: counterfoil-server migrate"))
            #expect(try await site.server(["migrate", "--check", "--database", uri]).status == 1)
            #expect(try await site.server(["migrate", "--database", uri]).status == 0)
            #expect(try await site.server(["migrate", "--check", "--database", uri]).status == 0)
            let again = try await site.server(["migrate", "--database", uri])
            #expect(again.status == 0 && again.errors.contains("were up to date"))
            try database.sql("UPDATE counterfoil_schema SET version = 99, oldest_program = 99", database: name)
            for arguments in [["migrate"], ["migrate", "--check"]] {
                let later = try await site.server(arguments + ["--database", uri])
                #expect(later.status == 3 && later.errors.contains("a later version has changed the tables"))
            }
            try database.sql(
                "UPDATE counterfoil_schema SET version = 1, oldest_program = 1", "CREATE ROLE role_\(name) LOGIN",
                database: name)
            let stranger = uri.replacing("counterfoil@", with: "role_\(name)@")
            let withoutRights = try await site.server(["migrate", "--check", "--database", stranger])
            #expect(withoutRights.status == 3 && withoutRights.errors.contains("run as its owner: GRANT"))

            let withPassword = try await site.server(
                ["app", "list", "--database", "postgresql://counterfoil:geheim@127.0.0.1/without_tables"])
            #expect(withPassword.status == 64)
            #expect(withPassword.errors.contains("contains a secret") && !withPassword.errors.contains("geheim"))
            for options in [["--database", ""], ["--server-key-file", ""], ["--server-key-file", key]] {
                #expect(try await site.server(["app", "list"] + options).status == 64)
            }
            let withoutFile = try await site.server(
                ["app", "list", "--database", uri, "--server-key-file", site.folder.path("missing.key")])
            #expect(withoutFile.status == 3 && withoutFile.errors.contains("there is no server key at"))
        }
    }
}
