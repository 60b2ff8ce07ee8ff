import Foundation
import GRDB
import TestSupport
import Testing

import struct TestSupport.Site

/// `audit verify` beside a running server, which seals the events.
@Suite(.timeLimit(.minutes(5)))
struct AuditVerifyTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            let kind: String
            let seal: Int?
            let number: Int?
        }

        let findings: [Finding]
        let count: Int
        let sealed: Int
        let unsealed: Int
        let head: String?
    }

    private static func verify(_ site: Site, _ options: String...) async throws -> (report: Report, status: Int32) {
        let ended = try await site.administer(["audit", "verify", "--json"] + options)
        #expect(ended.errors.isEmpty, "\(ended.errors)")
        return (try JSONDecoder().decode(Report.self, from: Data(ended.output.utf8)), ended.status)
    }

    @Test func `the server seals the log, and the command finds a changed event`() async throws {
        try await Site.run { site, _ in
            // The first round of the maintenance seals what the commands have recorded before.
            let deadline = ContinuousClock.now + .seconds(60)
            var (sound, status) = try await Self.verify(site)
            while sound.sealed == 0 || sound.unsealed > 0, ContinuousClock.now < deadline {
                (sound, status) = try await Self.verify(site)
            }
            #expect(status == 0 && sound.count == 0 && sound.unsealed == 0)
            let head = try #require(sound.head)
            #expect(head.hasPrefix("\(sound.sealed):"))
            let text = try await site.administer(["audit", "verify", "--head", head])
            #expect(text.status == 0 && text.output.contains("sealed events: 0 differences.\n"), "\(text.errors)")
            #expect(text.output.contains("\nHead: \(head) (sealed "), "\(text.output)")

            // The server may be writing.
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            let database = try DatabaseQueue(
                path: site.dataDirectory + "/counterfoil.db", configuration: configuration)
            let number = try await database.write { database in
                try database.execute(
                    sql: """
                        DROP TRIGGER audit_is_never_changed;
                        DROP TRIGGER audit_forgets_salts;
                        UPDATE audit SET kind = 'setting', detail = 'forged' WHERE number = 1
                        """)
                return database.changesCount
            }
            try database.close()
            #expect(number == 1)
            let found = try await Self.verify(site, "--head", head)
            #expect(found.status == 1 && found.report.count == 1)
            #expect(found.report.findings.map(\.kind) == ["changed"])
            #expect(found.report.findings.map(\.number) == [1])
            let seal = try #require(found.report.findings.first?.seal)
            let shown = try await site.administer(["audit", "verify"])
            #expect(shown.status == 1)
            #expect(
                shown.output.hasPrefix(
                    "FOUND  The event differs from what was sealed. (seal \(seal), event 1, position "))
            // What was examined is left out.
            #expect(try await Self.verify(site, "--after", "\(seal)").status == 0)

            let later = try await Self.verify(
                site, "--after", "\(seal)", "--head", "100000:" + String(repeating: "0", count: 64))
            #expect(later.status == 1 && later.report.findings.map(\.kind) == ["noted-head"])
            #expect(try await site.administer(["audit", "verify", "--head", "1"]).status == 64)
        }
    }
}
