import Foundation
import TestSupport
import Testing

/// Commands and servers on a copy or an earlier state of a data directory, whose server has an endings journal.
@Suite(.timeLimit(.minutes(5)))
struct CopiedDirectoryTests {
    @Test func `a command and a server on a copy of a data directory change nothing in the journal of the server`()
        async throws
    {
        try await Self.prepared { site, journal async throws in
            try await site.start(options: ["--endings-journal", journal]).whileRunning {
                let clone = site.folder.path("clone")
                try FileManager.default.copyItem(atPath: site.dataDirectory, toPath: clone)
                try await run(site, ["user", "disable", "bob"])
                let lines = try String(contentsOfFile: journal, encoding: .utf8)
                #expect(lines.contains("\"ended\":\"user-disabled\""))

                for command in [
                    ["user", "delete", "alice", "--yes"], ["backup", "--output", site.folder.path("copy")],
                ] {
                    let end = try await site.server(command + ["--data-dir", clone])
                    #expect(end.status == 0, "\(end.errors)")
                    #expect(end.errors.contains("writes nothing to the endings journal \(journal)"), "\(end.errors)")
                }
                let second = try await site.server([
                    "serve", "--issuer", site.issuer, "--listen", "127.0.0.1:0", "--endings-journal", journal,
                    "--data-dir", clone,
                ])
                #expect(second.status != 0)
                #expect(second.errors.contains("another server writes to \(journal)"), "\(second.errors)")
                #expect(try String(contentsOfFile: journal, encoding: .utf8) == lines)
            }
            #expect(try await run(site, ["user", "list"]).output.contains("alice"))
        }
    }

    @Test func `a command writes nothing to a journal of which its database lacks endings, and the server ends them`()
        async throws
    {
        try await Self.prepared { site, journal async throws in
            try await site.start(options: ["--endings-journal", journal]).whileRunning {}
            let database = site.dataDirectory + "/counterfoil.db"
            let former = try Data(contentsOf: URL(fileURLWithPath: database))
            // A command on the own directory of the server writes to the journal.
            try await run(site, ["user", "disable", "bob"])
            let lines = try String(contentsOfFile: journal, encoding: .utf8)
            #expect(lines.contains("\"ended\":\"user-disabled\""))

            // The file stays the same one.
            for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: database + end) }
            let file = try #require(FileHandle(forWritingAtPath: database))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: former)
            try file.close()
            let end = try await run(site, ["user", "delete", "alice", "--yes"])
            #expect(end.errors.contains("the server ends it again when it starts"), "\(end.errors)")
            #expect(try String(contentsOfFile: journal, encoding: .utf8) == lines)

            let server = try await site.start(options: ["--endings-journal", journal])
            try await server.whileRunning {}
            #expect(server.errors.contains("ended again what the database lacked"), "\(server.errors)")
            let text = try String(contentsOfFile: journal, encoding: .utf8)
            #expect(text.hasPrefix(lines), "\(text)")
            #expect(text.dropFirst(lines.count).contains("\"ended\":\"user-deleted\""), "\(text)")
            let users = try await run(site, ["user", "list"])
            #expect(!users.output.contains("alice") && users.errors == "", "\(users)")
        }
    }

    /// Runs an administration command, which must succeed.
    @discardableResult
    private func run(_ site: Site, _ arguments: [String]) async throws -> EndedProgram {
        let ended = try await site.administer(arguments)
        #expect(ended.status == 0, "\(arguments.prefix(2)): \(ended.errors)")
        return ended
    }

    private static func prepared(_ test: (Site, _ journal: String) async throws -> Void) async throws {
        try await StoreOfSite.dataDirectory.make { site in
            _ = try await AfterRestoreTests.prepare(site)
            let created = try await site.administer(
                [
                    "user", "create", "bob", "--email", "bob@example.com", "--display-name", "Bob", "--password-stdin",
                ], input: "correct horse battery staple 1\n")
            #expect(created.status == 0, "\(created.errors)")
            try await test(site, site.folder.path("endings"))
        }
    }
}
