import CounterfoilProtocol
import Foundation
import HTTPTypes
import PostgreSQLTesting
import TestSupport
import Testing

/// A store that lacks endings of its journal, as after a failover that lost the last commits.
@Suite(.timeLimit(.minutes(10)))
struct LostEndingsTests {
    private static let log = "ended again what the database lacked of the endings journal"

    @Test(arguments: StoreOfSite.allCases)
    func `a server that starts on a store without endings of its journal ends them again`(
        _ kind: StoreOfSite
    ) async throws {
        try await Self.prepared(kind) { prepared async throws in
            let (site, tokens) = (prepared.site, prepared.tokens)
            try await prepared.serving { try await prepared.revoke(tokens[0]) }
            try await Snapshot(site).restore()
            let lines = try String(contentsOfFile: prepared.journal, encoding: .utf8)

            let server = try await prepared.start()
            try await server.whileRunning {
                #expect(server.errors.contains(Self.log), "\(server.errors)")
                try await prepared.expect([400, 200])
            }
            let next = try await prepared.start()
            try await next.whileRunning {}
            #expect(!next.errors.contains(Self.log), "\(next.errors)")
            #expect(try String(contentsOfFile: prepared.journal, encoding: .utf8).hasPrefix(lines))
            let audit = try await site.administer(["audit", "--kind", "setting"])
            #expect(audit.output.contains("the store lacked endings of its journal; ended"), "\(audit.output)")
        }
    }

    // The numbers of the lost endings are used again.
    @Test func `a running server ends again what a failover lost, and after-restore ends what each branch has`()
        async throws
    {
        try await Self.prepared(.database, tokens: 3) { prepared async throws in
            let (site, tokens) = (prepared.site, prepared.tokens)
            let older = Snapshot(site, named: "older")
            try await older.take()
            let server = try await prepared.start()
            try await server.whileRunning {
                try await prepared.revoke(tokens[0])
                try await Snapshot(site).restore()
                try await prepared.revoke(tokens[1])
                _ = try await Waiting.until("the endings that were lost; the log: \(server.errors)") {
                    server.errors.contains(Self.log) ? true : nil
                }
                try await prepared.expect([400, 400])
            }
            // One for the lost number, its repetition, and the other one.
            let text = try String(contentsOfFile: prepared.journal, encoding: .utf8)
            #expect(text.matches(of: /"ended":"grant"/).count >= 3)

            try await older.restore()
            let restored = try await site.administer(["after-restore", "--endings-journal", prepared.journal])
            #expect(restored.status == 0, "\(restored.errors)")
            try await prepared.serving { try await prepared.expect([400, 400, 200]) }
        }
    }

    @Test func `a server ends again what a data directory lacks, also if the journal is empty beside a former file`()
        async throws
    {
        try await Self.prepared(.dataDirectory) { prepared async throws in
            let (site, tokens) = (prepared.site, prepared.tokens)
            try await prepared.serving { try await prepared.revoke(tokens[0]) }
            try await Snapshot(site).restore()
            try await Snapshot(site).take()
            // A journal that begins after what the directory knows.
            let lines = try String(contentsOfFile: prepared.journal, encoding: .utf8)
            let ending = try #require(lines.split(separator: "\n").last { $0.contains("\"ended\":") })
            let late = ending.replacing(/"number":\d+/, with: #""number":1000"#) + "\n"
            try Data(late.utf8).write(to: URL(fileURLWithPath: prepared.journal))
            let refused = try await site.administer(prepared.serve)
            #expect(refused.status == 3)
            #expect(
                refused.errors.contains("run after-restore --endings-journal \(prepared.journal)*"),
                "\(refused.errors)")

            try Data(lines.utf8).write(to: URL(fileURLWithPath: prepared.journal))
            try FileManager.default.moveItem(atPath: prepared.journal, toPath: prepared.journal + ".1000")
            try Data().write(to: URL(fileURLWithPath: prepared.journal))
            try await prepared.serving { try await prepared.expect([400, 200]) }
            let begun = try String(contentsOfFile: prepared.journal, encoding: .utf8).split(separator: "\n")
            #expect(try #require(begun.first).contains("\"mark\":\"begins\""))

            // An error of the system is no empty journal.
            try FileManager.default.removeItem(atPath: prepared.journal)
            let (new, elsewhere) = (site.folder.path("new"), site.folder.path("elsewhere"))
            symlink(elsewhere, prepared.journal)
            for end in [
                try await site.administer(prepared.serve), try await site.server(prepared.serve + ["--data-dir", new]),
            ] {
                #expect(end.status == 3 && end.errors.contains("it is a link; name the file itself"), "\(end.errors)")
            }
            #expect(!FileManager.default.fileExists(atPath: elsewhere))
            #expect(!FileManager.default.fileExists(atPath: new + "/counterfoil.db"))
        }
    }

    /// A site with a journal, of which a snapshot was taken, and refresh tokens from before it.
    private struct Prepared {
        let site: Site
        let journal: String
        let clientID: String
        let tokens: [String]

        var serve: [String] {
            [
                "serve", "--issuer", site.issuer, "--listen", "127.0.0.1:\(site.port)", "--endings-journal", journal,
            ]
        }

        func start() async throws -> RunningProgram { try await site.start(options: ["--endings-journal", journal]) }

        func serving(_ body: () async throws -> Void) async throws { try await start().whileRunning(body) }

        /// Revokes a token, as soon as the store answers.
        func revoke(_ token: String) async throws {
            let form = FormParameters(["client_id": clientID, "token": token])
            _ = try await Waiting.until("the revocation") {
                var agent = UserAgent()
                return try await agent.send(.post, "\(site.issuer)/oauth2/revoke", form: form).status == 200
                    ? true : nil
            }
        }

        /// Compares the answers to refreshes with the first tokens.
        func expect(_ statuses: [Int]) async throws {
            for (token, status) in zip(tokens, statuses) {
                let answer = try await RestoredCopyTests.refresh(token, of: clientID, at: site)
                #expect(Int(answer.status) == status, "\(answer.body)")
            }
        }
    }

    private static func prepared(
        _ kind: StoreOfSite, tokens count: Int = 2, _ test: (Prepared) async throws -> Void
    ) async throws {
        try await kind.make { site in
            let clientID = try await AfterRestoreTests.prepare(site)
            let journal = site.folder.path("endings")
            var tokens: [String] = []
            try await site.start(options: ["--endings-journal", journal]).whileRunning {
                for _ in 0..<count {
                    var browser = UserAgent()
                    tokens.append(try await RestoredCopyTests.signIn(with: &browser, clientID, at: site).refresh_token)
                }
            }
            try await Snapshot(site).take()
            try await test(Prepared(site: site, journal: journal, clientID: clientID, tokens: tokens))
        }
    }
}
