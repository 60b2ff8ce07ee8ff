import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// The tools of an operator for a running server: keys, log, metrics and audit log.
@Suite(.timeLimit(.minutes(10)))
struct OperatorTests {
    private struct Key: Decodable {
        let kid: String
        let algorithm: String
        let state: String
    }

    private func keys(_ site: Site) async throws -> [Key] {
        struct Report: Decodable {
            let signing_keys: [Key]
        }
        let ended = try await site.administer(["key", "list", "--json"])
        #expect(ended.status == 0, "\(ended.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(ended.output.utf8)).signing_keys
    }

    private func published(_ site: Site) async throws -> [String] {
        var agent = UserAgent()
        let text = try await agent.open(site.issuer + "/oauth2/jwks").body
        let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [[String: Any]]]
        return document?["keys"]?.compactMap { $0["kid"] as? String } ?? []
    }

    /// Waits until the published keys satisfy a condition; the server reads changes within a second.
    private func published(_ site: Site, once isThere: ([String]) -> Bool) async throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(60)
        var keys = try await published(site)
        while !isThere(keys), ContinuousClock.now < deadline { keys = try await published(site) }
        return keys
    }

    @Test func `a key that is rotated at the command line is published by the running server`() async throws {
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

            // The planned successor of this key does not sign yet.
            let leaked = try #require(before.first { $0.algorithm == "ES256" })
            let ended = try await site.administer(["key", "withdraw", String(leaked.kid.prefix(20))])
            #expect(ended.status == 0 && ended.errors.contains("up to 3600 seconds"), "\(ended.errors)")
            #expect(try await !published(site) { !$0.contains(leaked.kid) }.contains(leaked.kid))
            #expect(try await keys(site).filter { $0.algorithm == "ES256" }.map(\.state) == ["retired", "signing"])
            #expect(try await site.administer(["key", "withdraw", leaked.kid]).status == 3)
        }
    }

    @Test func `the audit log can be queried at the command line`() async throws {
        try await Site.run { site, clientID in
            let request = ClientAuthorizationRequest(site, clientID)
            var browser = UserAgent()
            let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
            #expect(try await request.redeem(try page.code).status == 200)
            let asked = try await site.administer([
                "audit", "--person", Account.alice.name, "--kind", "consent", "--json",
            ])
            #expect(asked.status == 0, "\(asked.errors)")
            let events = try #require(
                try JSONSerialization.jsonObject(with: Data(asked.output.utf8)) as? [[String: Any]])
            #expect(events.count == 1)
            #expect(events.first?["client_id"] as? String == clientID)
            #expect(events.first?["username"] as? String == Account.alice.name)
            #expect(events.first?["source"] as? String == "127.0.0.1")
            let all = try await site.administer(["audit"])
            #expect(all.output.contains("application done") && all.output.contains("account done"))
            #expect(try await site.administer(["audit", "--person", "nobody"]).status == 3)
            #expect(try await site.administer(["audit", "--since", "soon"]).status == 64)
            let before = try await site.administer(["audit", "--before", "0"])
            #expect(before.status == 64)
            #expect(before.errors.hasPrefix("Error: The value '0' is invalid for '--before <position>'"))
            let newest = try JSONSerialization.jsonObject(
                with: Data(try await site.administer(["audit", "--limit", "2", "--json"]).output.utf8))
            let pair = try #require(newest as? [[String: Any]])
            let position = try #require(pair.first?["position"] as? String)
            let next = try await site.administer(["audit", "--before", position, "--limit", "1", "--json"])
            #expect(next.output.contains(try #require(pair.last?["position"] as? String)))
        }
    }

    /// The words of a command for the period between two days.
    private static func period(since start: String? = nil, before end: String? = nil) throws -> String {
        try #require(
            Moment.period(
                since: start.flatMap { Moment.parse($0, at: Date()) },
                before: end.flatMap { Moment.parse($0, at: Date()) }))
    }

    @Test func `the audit log is exported completely, and exported events can be deleted`() async throws {
        try await Site.make { site in
            for number in 1...3 { try await site.addScope("photos.read\(number)", "See photos") }
            let store = try SQLiteStore(at: site.dataDirectory + "/counterfoil.db")
            for number in 1...2500 {
                // Events that may still get an earlier neighbour are not exported, so these are older.
                let time = Date() - 2 * AuditPosition.settlingTime
                try await store.appendAudit(AuditEvent(at: time, .setting, detail: "number \(number)"))
            }
            await store.close()
            func lines(_ text: String) throws -> [[String: Any]] {
                try text.split(separator: "\n").map { line in
                    try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                }
            }
            let none = try await site.administer(["audit", "export", "--until", "2020-01-01"])
            #expect(none.status == 0 && none.output.isEmpty)
            #expect(none.errors == "There are no events \(try Self.period(before: "2020-01-01")).\n")

            let file = site.folder.path("events.jsonl")
            let exported = try await site.administer(["audit", "export", "--until", "2999-01-01", "--output", file])
            #expect(exported.status == 0 && exported.output.isEmpty, "\(exported.errors)")
            let events = try lines(String(contentsOfFile: file, encoding: .utf8))
            let numbers = events.compactMap { $0["number"] as? Int }
            #expect(numbers == numbers.sorted())
            #expect(events.count == 2500)
            #expect(events.last?["detail"] as? String == "number 2500")
            let last = try #require(events.last?["position"] as? String)
            #expect(
                exported.errors
                    == "Exported 2500 events \(try Self.period(before: "2999-01-01")). Events of the last 10 minutes are "
                    + "left out. To delete them from the log:\n  counterfoil-server audit delete --through \(last) --data-dir \(site.dataDirectory)\n"
            )
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(
                try await site.administer(["audit", "export", "--until", "2999-01-01", "--output", file]).status == 3)
            let since = try await site.administer(["audit", "export", "--since", "2020-01-01"])
            #expect(try since.output == String(contentsOfFile: file, encoding: .utf8))
            #expect(since.errors == "Exported 2500 events \(try Self.period(since: "2020-01-01")).\n")
            #expect(try await site.administer(["audit", "export", "--since", "2998-01-01"]).output.isEmpty)
            #expect(try await site.administer(["audit", "export"]).status == 64)
            // A filter makes it no beginning of the log that could be deleted.
            let filtered = try await site.administer(["audit", "export", "--kind", "setting", "--format", "csv"])
            #expect(filtered.output.hasPrefix(AuditDocument.header))
            #expect(filtered.output.split(separator: "\r\n").count == 2501)
            #expect(filtered.errors == "Exported 2500 events --kind setting.\n")
            let printed = try await site.administer(["audit", "export", "--until", "2999-01-01"])
            #expect(try printed.output == String(contentsOfFile: file, encoding: .utf8))

            let deleted = try await site.administer(["audit", "delete", "--through", last, "--json"])
            #expect(deleted.output == "{\"deleted\":2500}\n", "\(deleted.errors)")
            let left = try await site.administer(["audit", "--json"])
            let kept = try #require(
                try JSONSerialization.jsonObject(with: Data(left.output.utf8)) as? [[String: Any]])
            #expect(kept.first?["kind"] as? String == "audit-removal")
            #expect(kept.filter { $0["kind"] as? String == "setting" }.count == 3)
            let first = try #require(events.first?["position"] as? String)
            #expect(
                kept.first?["detail"] as? String == "at the command line: events from position \(first) to \(last)")
            // Recent events are kept, whichever position is given.
            let recent = try #require(kept.first?["position"] as? String)
            let nothing = try await site.administer(["audit", "delete", "--through", recent, "--json"])
            #expect(nothing.output == "{\"deleted\":0}\n")
            let explained = try await site.administer(["audit", "delete", "--through", recent])
            #expect(
                explained.output
                    == "There are no events up to position \(recent). Events of the last 10 minutes are kept.\n")
            let all = try await site.administer(["audit", "--json"])
            #expect(all.output == left.output)
            // The event names the last event that was deleted, not the position of the command.
            let reopened = try SQLiteStore(at: site.dataDirectory + "/counterfoil.db")
            try await reopened.appendAudit(
                AuditEvent(at: Date() - 2 * AuditPosition.settlingTime, .setting, detail: "another"))
            let another = try #require(try await reopened.auditLog(after: nil, limit: 1).first?.position)
            let one = try await site.administer(["audit", "delete", "--through", recent, "--json"])
            #expect(one.output == "{\"deleted\":1}\n", "\(one.errors)")
            let removal = try #require(try await reopened.audit(AuditQuery(limit: 1)).first)
            await reopened.close()
            #expect(removal.event.kind == .auditRemoval)
            #expect(
                removal.event.detail == "at the command line: events from position \(another) to \(another)")
            #expect(try await site.administer(["audit", "delete", "--through", "0"]).status == 64)
            #expect(try await site.administer(["audit", "export", "--until", "soon"]).status == 64)
        }
    }

    @Test func `audit follow prints events of a running server and of commands until it is interrupted`() async throws {
        try await Site.run { site, _ in
            let newest = try await site.administer(["audit", "--limit", "1", "--json"])
            let events = try JSONSerialization.jsonObject(with: Data(newest.output.utf8)) as? [[String: Any]]
            let position = try #require(events?.first?["position"] as? String)
            let follower = try RunningProgram(
                .server, ["audit", "follow", "--json", "--after", position, "--data-dir", site.dataDirectory],
                in: site.folder)
            try await site.addScope("photos.write", "Change your photos")
            var browser = UserAgent()
            let form = try await browser.open(site.issuer + "/sign-in").form(with: "password")
            _ = try await browser.post(form, ["username": Account.alice.name, "password": "wrong"])
            _ = try await follower.said("both events") { program in
                program.output.contains("photos.write") && program.output.contains(#""outcome":"refused""#) ? true : nil
            }
            try follower.signal("INT")
            let ended = try await follower.ended()
            #expect(ended.status == 0, "\(ended.errors)")
            let numbers = try ended.output.split(separator: "\n").map { line in
                let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return try #require(event?["number"] as? Int)
            }
            #expect(Set(numbers).count == numbers.count)
        }
    }

    @Test func `the log is JSON with request ids, without secrets, and uses the address from the proxy`()
        async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient()
            let server = try await site.start(options: [
                "--log-level", "debug", "--log-format", "json", "--metrics-listen", "127.0.0.1:0", "--trusted-proxy",
                "127.0.0.1",
            ])
            try await server.whileRunning {
                let request = ClientAuthorizationRequest(site, clientID)
                var browser = UserAgent()
                let page = try await Account.alice.answer("allow", at: request.url, in: &browser)
                let code = try page.code
                let redeemed = try await request.redeem(code)
                #expect(redeemed.status == 200)

                let events = try server.logEvents
                let answers = events.filter { $0["message"] == "answered" }
                #expect(
                    answers.contains { $0["endpoint"] == "token" && $0["status"] == "200" && $0["method"] == "POST" })
                #expect(answers.allSatisfy { $0["request"]?.isEmpty == false && $0["source"] == "127.0.0.1" })
                for secret in [code, request.verifier.exposed, Account.alice.password, request.state ?? "-"] {
                    #expect(!server.errors.contains(secret))
                }

                let metrics = try await server.said("where metrics are") { program in
                    try program.logEvents.first { $0["message"] == "started the metrics server" }?["url"]
                }
                var agent = UserAgent()
                let text = try await agent.open(metrics)
                #expect(text.status == 200)
                #expect(text.body.contains(#"counterfoil_tokens_issued_total{grant="authorization_code"} 1"#))
                #expect(!text.body.contains(clientID))
                #expect(text.body.contains("counterfoil_logout_notifications_queued 0"))
                #expect(text.body.contains("counterfoil_logout_notification_oldest_seconds 0.0"))
                for sample in [
                    #"counterfoil_store_faults_total{store="sqlite",operation="commit",fault="unavailable"} 0"#,
                    #"counterfoil_store_operation_duration_seconds_count{store="sqlite",operation="read"} "#,
                    "counterfoil_store_wal_bytes ", "counterfoil_filesystem_avail_bytes ",
                    #"counterfoil_signing_key_start_timestamp_seconds{algorithm="ES256"} "#,
                ] {
                    #expect(text.body.contains("\n" + sample), "\(sample)")
                }
                // The age of the last backup is that of the file which the backup writes.
                #expect(!text.body.contains("counterfoil_backup_last_success_timestamp_seconds"))
                try Data().write(to: URL(fileURLWithPath: site.dataDirectory).appendingPathComponent("last-backup"))
                let later = try await agent.open(metrics).body
                #expect(later.contains("\ncounterfoil_backup_last_success_timestamp_seconds 1"))
                #expect(try await agent.open(site.issuer + "/metrics").status == 404)
            }
        }
    }

    @Test func `a server key from the environment creates no file, and an invalid one is refused`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
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
