import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// The commands about keys, the certificate, mail, settings, checks, the audit log and events, over the administration
/// API.
@Suite(.timeLimit(.minutes(10)))
struct RemoteOperationsCommandTests {
    private static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private static func objects(_ text: String) throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    @Test func `keys are listed, rotated and withdrawn over the API`() async throws {
        try await RemoteServer.run(["server:read", "server:write"]) { server in
            let list = try await server.compare(["key", "list"])
            #expect(list.output.contains("\nServer keys:\n"))
            let former = try Self.object(try await server.compare(["key", "list", "--json"]).output)
            let keys = try #require(former["signing_keys"] as? [[String: Any]])
            #expect(keys.count == 3)

            let rotated = try await server.run(["key", "rotate", "--algorithm", "ES256"])
            #expect(rotated.status == 0 && rotated.output.contains("  ES256  published since "), "\(rotated)")
            #expect(rotated.errors.hasPrefix("The new keys are published now and sign tokens from "))
            let replaced = try await server.run(["key", "rotate", "--algorithm", "RS256", "--withdraw", "--json"])
            let made = try #require(try Self.objects(replaced.output).first)
            #expect(made["algorithm"] as? String == "RS256" && made["state"] as? String == "signing")

            try await server.compare(["key", "withdraw", "no-such-key"], status: 3)
            let limited = try await server.limited(to: ["server:read"])
            let refused = try await limited.run(["key", "rotate"])
            #expect(refused.status == 3 && refused.errors.contains("counterfoil.admin.server:write"), "\(refused)")

            // The key has signed the token of the command, which works no longer.
            let signing = try #require(keys.first { $0["algorithm"] as? String == "ES256" }?["kid"] as? String)
            let withdrawn = try await server.run(["key", "withdraw", String(signing.prefix(20))])
            #expect(withdrawn.status == 0, "\(withdrawn.errors)")
            #expect(withdrawn.output.contains("Withdrew the key \(signing)  ES256  signing since "))
            #expect(withdrawn.errors.contains("note: the key that signs now could not be read"))
            #expect(withdrawn.errors.contains("up to 3600 seconds more are refused now"))
            let left = try await server.site.administer(["key", "list"]).output
            let kept = try #require(made["kid"] as? String)
            #expect(!left.contains(signing) && left.contains(kept))
            #expect(try await server.run(["key", "list"]).status == 3)

            // Without --remote, the successor of a key is the same.
            #expect(try await server.site.administer(["key", "rotate"]).output.split(separator: "\n").count == 3)
        }
    }

    @Test func `all keys are withdrawn over the API, also the one that has signed the token of the command`()
        async throws
    {
        try await RemoteServer.run(["server:read", "server:write"]) { server in
            let former = try Self.object(try await server.compare(["key", "list", "--json"]).output)
            let keys = try #require(former["signing_keys"] as? [[String: Any]]).compactMap { $0["kid"] as? String }
            let replaced = try await server.run(["key", "rotate", "--withdraw"])
            #expect(replaced.status == 0, "\(replaced.errors)")
            #expect(replaced.output.split(separator: "\n").count == keys.count)
            let left = try await server.site.administer(["key", "list"]).output
            #expect(keys.allSatisfy { !left.contains($0) }, "\(left)")
            #expect(try await server.run(["key", "list"]).status == 3)
        }
    }

    @Test func `a server without a certificate says so, and orders none`() async throws {
        try await RemoteServer.run(["server:read", "server:write"]) { server in
            let shown = try await server.run(["certificate", "show"])
            #expect(shown.status == 3 && shown.errors.contains("a proxy in front of it speaks TLS"), "\(shown)")
            let renewed = try await server.run(["certificate", "renew"])
            #expect(renewed.status == 3 && renewed.errors.contains("does not order its certificate"), "\(renewed)")
            // A command on the store does not know what a server will do.
            #expect(try await server.site.administer(["certificate", "renew"]).status == 0)
        }
    }

    @Test func `a test mail is sent by the server, and its failure is that of the command`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let program = folder.path("sendmail")
            try Data("#!/bin/sh\n/bin/cat >\(folder.path("mail"))\n".utf8).write(to: URL(fileURLWithPath: program))
            chmod(program, 0o755)
            let options = ["--mail-program", program, "--mail-sender", "id@example.com"]
            try await RemoteServer.run(["server:write"], options: options) { server in
                let sent = try await server.run(["mail", "test", "bob@example.org"])
                #expect(sent.status == 0, "\(sent.errors)")
                let id = try #require(sent.output.firstMatch(of: /Its Message-ID begins with ([0-9a-f]{32})\.\n/)).1
                #expect(sent.output.hasPrefix("The mail to bob@example.org was accepted."))
                #expect(try String(contentsOfFile: folder.path("mail"), encoding: .utf8).contains("<\(id)"))
                try Data("#!/bin/sh\n/bin/cat >/dev/null\nexit 75\n".utf8).write(to: URL(fileURLWithPath: program))
                let failed = try await server.run(["mail", "test", "bob@example.org"])
                #expect(failed.status == 6 && failed.errors.contains("the mail was not sent: "), "\(failed)")
                let mixed = try await server.run(["mail", "test", "bob@example.org", "--mail-program", program])
                #expect(mixed.status == 64 && mixed.errors.contains("--remote uses the settings"), "\(mixed)")
            }
            try await RemoteServer.run(["server:write"]) { server in
                let refused = try await server.run(["mail", "test", "bob@example.org"])
                #expect(refused.status == 3 && refused.errors.contains("email is not set up; set mail-sender"))
            }
        }
    }

    @Test func `the settings and the findings of the server are shown`() async throws {
        try await RemoteServer.run(["server:read", "users:read"]) { server in
            let shown = try await server.run(["config", "show"])
            #expect(shown.output.contains(/\nadministration-api +true +\[--administration-api\]\n/), "\(shown)")
            let remote = try Self.objects(try await server.run(["config", "show", "--json"]).output)
            let stored = try await server.site.administer([
                "config", "show", "--json", "--issuer", server.site.issuer, "--listen", "127.0.0.1:1",
            ])
            #expect(
                remote.map { $0["name"] as? String } == (try Self.objects(stored.output)).map { $0["name"] as? String })
            #expect(try await server.run(["config", "show", "--issuer", "https://id.example.com"]).status == 64)

            let report = try await server.run(["doctor", "--json"])
            let document = try Self.object(report.output)
            let findings = try #require(document["findings"] as? [[String: Any]])
            let topics = Set(findings.compactMap { $0["topic"] as? String })
            #expect(topics.isSuperset(of: ["version", "store", "issuer"]), "\(topics)")
            let faults = findings.count { $0["weight"] as? String == "fault" }
            #expect(document["faults"] as? Int == faults)
            #expect(report.status == (faults == 0 ? 0 : 1))
            let text = try await server.run(["doctor"]).output
            #expect(text.contains("ok     this is version "))
            #expect(text.hasSuffix(" note\n") || text.hasSuffix(" notes\n"))
            #expect(try await server.run(["doctor", "--clock-from", "https://example.com"]).status == 64)
            let limited = try await server.limited(to: ["users:read"])
            #expect(try await limited.run(["doctor"]).status == 3)
        }
    }

    @Test func `the audit log is listed and exported over the API in as many pages as it needs`() async throws {
        try await RemoteServer.run(["audit:read", "users:read"]) { server in
            let store = try SQLiteStore(at: server.site.dataDirectory + "/counterfoil.db")
            for number in 1...450 {
                // Events that may still get an earlier neighbour are not exported, so these are older.
                let time = Date() - 2 * AuditPosition.settlingTime
                try await store.appendAudit(
                    AuditEvent(at: time, .auditExport, detail: number == 440 ? "=1\u{1B}[2J" : "number \(number)"))
            }
            await store.close()
            let kind = ["--kind", "audit-export"]
            for options in [[], ["--limit", "300"], ["--json"], ["--local-time"], ["--until", "2999-01-01T00:00Z"]] {
                let list = try await server.compare(["audit", "list"] + kind + options)
                #expect(list.output.contains("number 450") && !list.output.contains("\u{1B}"))
            }
            let newest = try Self.objects(try await server.run(["audit"] + kind + ["--limit", "2", "--json"]).output)
            let position = try #require(newest.first?["position"] as? String)
            let next = try await server.compare(["audit"] + kind + ["--before", position, "--limit", "1"])
            #expect(next.output.contains("(number 449)"))
            try await server.compare(["audit", "list", "--source", "2001:db8::1"])

            let exported = try await server.compare(["audit", "export"] + kind)
            #expect(exported.output.split(separator: "\n").count == 450)
            #expect(exported.errors == "Exported 450 events --kind audit-export.\n")
            let table = try await server.compare(["audit", "export", "--format", "csv"] + kind)
            #expect(table.output.hasPrefix(AuditDocument.header) && table.output.contains("\"'=1"))
            let file = server.site.folder.path("events.jsonl")
            let written = try await server.run(["audit", "export", "--until", "2999-01-01", "--output", file])
            #expect(written.status == 0 && written.output.isEmpty, "\(written.errors)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == exported.output)
            #expect(
                written.errors.contains(
                    /on the machine of the server:\n  counterfoil-server audit delete --through \d+/))

            let other = server.site.folder.path("other.jsonl")
            let unknown = try await server.compare(
                ["audit", "export", "--person", "nobody", "--output", other], status: 3)
            #expect(unknown.errors.contains("--person: "))
            #expect(!FileManager.default.fileExists(atPath: other))
            let refused = try await server.limited(to: ["users:read"]).run(["audit", "list"])
            #expect(refused.status == 3, "\(refused)")
        }
    }

    @Test func `events are read and followed over the API`() async throws {
        try await RemoteServer.run(["events:read", "users:read"]) { server in
            let type = ["--type", "client.created"]
            // The server seals the events within some seconds.
            let first = try await Waiting.until("the event of the app") { () async throws -> String? in
                let events = try await server.run(["events"] + type)
                #expect(events.status == 0, "\(events.errors)")
                return events.output.isEmpty ? nil : events.output
            }
            #expect(try await server.compare(["events", "--since", "1h"] + type).output == first)
            let cursor = try #require(try Self.object(first)["cursor"] as? Int)
            #expect(try await server.compare(["events", "--after", "\(cursor)"] + type).output.isEmpty)
            let ahead = try await server.compare(["events", "--after", "999999999"], status: 3)
            #expect(ahead.errors.contains("--after: No event has this cursor yet"), "\(ahead.errors)")

            let follower = try RunningProgram(
                .server, ["events", "--follow", "--after", "\(cursor)"] + type + server.options, in: server.site.folder)
            let id = try await server.site.registerClient(scopes: ["openid"])
            _ = try await follower.said("the new app") { $0.output.contains(id) ? true : nil }
            try follower.signal("INT")
            let ended = try await follower.ended()
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(ended.output.split(separator: "\n").count == 1)
            let refused = try await server.limited(to: ["users:read"]).run(["events", "--follow"])
            #expect(refused.status == 3, "\(refused)")
        }
    }
}
