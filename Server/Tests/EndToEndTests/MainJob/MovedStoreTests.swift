@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import PostgreSQLTesting
import TestSupport
import Testing

/// A data directory whose content moves to a PostgreSQL database.
@Suite(.timeLimit(.minutes(10)))
struct MovedStoreTests {
    private struct Tokens: Decodable {
        let refresh_token: String
    }

    private static func emptyDatabase() async throws -> String {
        let server = try await PostgreSQLServer.shared.value
        let name = "moved_" + UUID().uuidString.filter(\.isHexDigit).lowercased()
        try server.sql("CREATE DATABASE \(name)")
        return "postgresql://counterfoil@127.0.0.1:\(server.port.number)/\(name)"
    }

    private static func refresh(_ token: String, of clientID: String, at site: Site) async throws -> WebPage {
        var agent = UserAgent()
        return try await agent.send(
            .post, "\(site.origin)/oauth2/token",
            form: FormParameters(["grant_type": "refresh_token", "client_id": clientID, "refresh_token": token]))
    }

    @Test func `users stay signed in when the content of a directory moves to a database`() async throws {
        let uri = try await Self.emptyDatabase()
        try await Site.make { former in
            try await former.add(.alice)
            try await former.addScope("photos.read", "See your photos and albums")
            let clientID = try await former.registerClient(options: ["--refresh-tokens", "always"])
            let keyFile = former.folder.path("data/server.key")
            let move = [
                "migrate", "--from", "sqlite:\(former.dataDirectory)", "--database", uri, "--server-key-file", keyFile,
            ]
            var browser = UserAgent()
            let request = ClientAuthorizationRequest(former, clientID)
            let (token, code) = try await former.serving {
                let whileRunning = try await former.server(move)
                #expect(whileRunning.status == 6 && whileRunning.errors.contains("stop it first"))
                let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
                let tokens = try await request.redeem(try page.code)
                let again = try await Account.alice.answer("allow", at: request.url, in: &browser)
                return (
                    try JSONDecoder().decode(Tokens.self, from: Data(tokens.body.utf8)).refresh_token, try again.code
                )
            }

            // Users would be signed out with another key.
            let otherKey = former.folder.path("other.key")
            try Data(RandomBytes().bytes(32)).write(to: URL(fileURLWithPath: otherKey))
            chmod(otherKey, 0o600)
            let withOtherKey = try await former.server(Array(move.dropLast()) + [otherKey])
            #expect(withOtherKey.status == 3 && withOtherKey.errors.contains("the server key is not that of"))

            let moved = try await former.server(move)
            #expect(moved.status == 0, "\(moved.errors)")
            #expect(moved.errors.contains("Copying: 100%") && moved.errors.contains("Comparing: 100%"))
            #expect(moved.errors.contains("and compared them. Start the servers with --database"))

            let afterwards = try await former.administer(["user", "list"])
            #expect(afterwards.status == 3)
            #expect(afterwards.errors.contains("has moved to ") && afterwards.errors.contains("moved_"))
            let serving = try await former.server([
                "serve", "--issuer", former.issuer, "--listen", "127.0.0.1:\(former.port)", "--data-dir",
                former.dataDirectory,
            ])
            #expect(serving.status == 3 && serving.errors.contains("has moved to "))

            let key = Base64URL.encode(Array(try Data(contentsOf: URL(fileURLWithPath: keyFile))))
            try await Site.make(on: .database(uri, serverKey: key)) { site in
                let users = try await site.administer(["user", "list"])
                #expect(users.output.contains("alice"))
                // The issuer was noted by the former server.
                let added = try await site.administer([
                    "app", "create", "--type", "native", "--name", "Own", "--redirect-uri",
                    "\(former.issuer)/callback",
                ])
                #expect(added.status != 0)
                let server = try await site.start(issuer: former.issuer)
                #expect(try await request.redeem(code, at: site).status == 200)
                let refreshed = try await Self.refresh(token, of: clientID, at: site)
                #expect(refreshed.status == 200)
                let page = try await browser.open(request.url.replacing(former.issuer, with: site.origin))
                #expect(try page.form(withButton: "allow").action.isEmpty == false)
                await server.stop()

                // The database is in use, so nothing moves into it.
                try await Site.make { other in
                    try await other.add(.alice)
                    let refused = try await other.server([
                        "migrate", "--from", "sqlite:\(other.dataDirectory)", "--database", uri, "--server-key-file",
                        other.folder.path("data/server.key"),
                    ])
                    #expect(refused.status == 3 && refused.errors.contains("is not empty"))
                    #expect(try await other.administer(["user", "list"]).status == 0)
                }
            }
        }
    }

    @Test func `a wrong use of the move is refused before anything is read`() async throws {
        try await Site.make { site in
            let database = ["--database", "postgresql://counterfoil@127.0.0.1/counterfoil"]
            for options in [
                ["--from", "/var/lib/counterfoil"], ["--from", "sqlite:"], ["--from", "sqlite:x", "--check"],
                ["--from", "sqlite:x", "--server-key-file", ""],
            ] {
                #expect(try await site.server(["migrate"] + options + database).status == 64, "\(options)")
            }
            let key = site.folder.path("server.key")
            try Data(RandomBytes().bytes(32)).write(to: URL(fileURLWithPath: key))
            chmod(key, 0o600)
            let missing = try await site.server(
                ["migrate", "--from", "sqlite:\(site.folder.path("none"))", "--server-key-file", key] + database)
            #expect(missing.status == 3 && missing.errors.contains("no data directory found at"))
        }
    }
}
