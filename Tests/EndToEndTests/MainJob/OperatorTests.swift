import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import Foundation
import Testing

/// What an operator sees of a server that runs: its keys, its log, its metrics, and what happened.
@Suite(.timeLimit(.minutes(10)))
struct OperatorTests {
    private struct Key: Decodable {
        let kid: String
        let algorithm: String
        let state: String
    }

    private func keys(_ site: Site) async throws -> [Key] {
        let ended = try await site.administer(["key", "list", "--json"])
        #expect(ended.status == 0, "\(ended.errors)")
        return try JSONDecoder().decode([Key].self, from: Data(ended.output.utf8))
    }

    private func published(_ site: Site) async throws -> [String] {
        var agent = UserAgent()
        let text = try await agent.open(site.issuer + "/oauth2/jwks").body
        let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [[String: Any]]]
        return document?["keys"]?.compactMap { $0["kid"] as? String } ?? []
    }

    /// What is published once it is what is wanted; the server looks at most a second late.
    private func published(_ site: Site, once isThere: ([String]) -> Bool) async throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(60)
        var keys = try await published(site)
        while !isThere(keys), ContinuousClock.now < deadline { keys = try await published(site) }
        return keys
    }

    @Test func `a key that is rotated at the command line is published by the server that runs`() async throws {
        try await Site.runEmpty { site in
            let before = try await keys(site)
            #expect(before.map(\.state) == ["signing", "signing", "signing"])
            #expect(Set(before.map(\.algorithm)) == ["ES256", "RS256", "EdDSA"])
            #expect(Set(try await published(site)) == Set(before.map(\.kid)))

            let rotated = try await site.administer(["key", "rotate", "--algorithm", "ES256", "--json"])
            #expect(rotated.status == 0, "\(rotated.errors)")
            let new = try #require(try JSONDecoder().decode([Key].self, from: Data(rotated.output.utf8)).first)
            #expect(new.state == "published")
            let now = try await published(site) { $0.contains(new.kid) }
            #expect(Set(now) == Set(before.map(\.kid) + [new.kid]))

            let former = try #require(before.first { $0.algorithm == "RS256" })
            let withdrawn = try await site.administer(["key", "rotate", "--algorithm", "RS256", "--withdraw"])
            #expect(withdrawn.status == 0, "\(withdrawn.errors)")
            let left = try await published(site) { !$0.contains(former.kid) }
            #expect(!left.contains(former.kid))
            #expect(try await keys(site).filter { $0.algorithm == "RS256" }.map(\.state) == ["signing"])
        }
    }

    @Test func `what happened can be asked at the command line`() async throws {
        try await Site.run { site, clientID in
            let request = ApplicationRequest(site, clientID)
            var browser = UserAgent()
            let page = try await Person.alice.answer("allow", at: request.url, in: &browser)
            #expect(try await request.redeem(try page.code).status == 200)
            let asked = try await site.administer([
                "audit", "--person", Person.alice.name, "--kind", "consent", "--json",
            ])
            #expect(asked.status == 0, "\(asked.errors)")
            let events = try #require(
                try JSONSerialization.jsonObject(with: Data(asked.output.utf8)) as? [[String: Any]])
            #expect(events.count == 1)
            #expect(events.first?["client_id"] as? String == clientID)
            #expect(events.first?["username"] as? String == Person.alice.name)
            #expect(events.first?["source"] as? String == "127.0.0.1")
            let all = try await site.administer(["audit"])
            #expect(all.output.contains("application done") && all.output.contains("account done"))
            #expect(try await site.administer(["audit", "--person", "nobody"]).status == 3)
            #expect(try await site.administer(["audit", "--since", "soon"]).status == 64)
            let before = try await site.administer(["audit", "--before", "0"])
            #expect(before.status == 64)
            #expect(before.errors.hasPrefix("Error: --before is the number of an event, 1 or more.\n"))
        }
    }

    // R302
    @Test func `the log is JSON with request ids, without secrets, and counts by the address that the proxy names`()
        async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.addApplication()
            let server = try await site.start(options: [
                "--log-level", "debug", "--log-format", "json", "--metrics-listen", "127.0.0.1:0", "--trusted-proxy",
                "127.0.0.1",
            ])
            try await server.whileRunning {
                let request = ApplicationRequest(site, clientID)
                var browser = UserAgent()
                let page = try await Person.alice.answer("allow", at: request.url, in: &browser)
                let code = try page.code
                let redeemed = try await request.redeem(code)
                #expect(redeemed.status == 200)

                let lines = server.errors.split(separator: "\n").filter { $0.hasPrefix("{") }
                let events = try lines.compactMap {
                    try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String]
                }
                let answers = events.filter { $0["message"] == "answered" }
                #expect(
                    answers.contains { $0["endpoint"] == "token" && $0["status"] == "200" && $0["method"] == "POST" })
                #expect(answers.allSatisfy { $0["request"]?.isEmpty == false && $0["source"] == "127.0.0.1" })
                for secret in [code, request.verifier.exposed, Person.alice.password, request.state ?? "-"] {
                    #expect(!server.errors.contains(secret))
                }

                let metrics = try await server.said("where metrics are") { program in
                    program.errors.firstMatch(of: /Metrics are at (\S+)\./).map { String($0.output.1) }
                }
                var agent = UserAgent()
                let text = try await agent.open(metrics)
                #expect(text.status == 200)
                #expect(text.body.contains(#"counterfoil_tokens_issued_total{grant="authorization_code"} 1"#))
                #expect(!text.body.contains(clientID))
                #expect(text.body.contains("counterfoil_logout_notifications_queued 0"))
                #expect(text.body.contains("counterfoil_logout_notification_oldest_seconds 0.0"))
                #expect(try await agent.open(site.issuer + "/metrics").status == 404)
            }
        }
    }

    @Test func `a server key from the environment makes no file, and what is none is refused`() async throws {
        try await TemporaryFolder.run { folder in
            let data = folder.path("data")
            func list(_ key: String) async throws -> EndedProgram {
                try await RunningProgram(
                    .server,
                    [
                        "scope", "create", "photos.\(Int.random(in: 0...Int.max))", "--description", "Photos",
                        "--data-dir", data,
                    ],
                    environment: ["COUNTERFOIL_SERVER_KEY": key], in: folder
                ).ended()
            }
            #expect(try await list(String(repeating: "A", count: 43)).status == 0)
            #expect(!FileManager.default.fileExists(atPath: data + "/server.key"))
            let refused = try await list("too short")
            #expect(refused.status == 3)
            #expect(refused.errors.contains("COUNTERFOIL_SERVER_KEY"))
            #expect(!refused.errors.contains("too short"))
        }
    }
}
