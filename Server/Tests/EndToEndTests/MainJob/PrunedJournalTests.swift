import Foundation
import TestSupport
import Testing

import struct TestSupport.Site

/// The deletion of former files of an endings journal.
@Suite(.timeLimit(.minutes(10)))
struct PrunedJournalTests {
    private static func succeed(_ arguments: [String], at site: Site) async throws -> EndedProgram {
        let ended = try await site.server(arguments)
        #expect(ended.status == 0, "\(arguments): \(ended.errors)")
        return ended
    }

    @Test func `a file from before a restore is deleted if the copies are of the restored server, and else named`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let journal = folder.path("endings")
        func write(_ lines: [String], to path: String) throws {
            let text = lines.map { line in
                #"{"at":"2026-07-01T00:00:00.000Z","format":1,\#(line)}"# + "\n"
            }
            try Data(text.joined().utf8).write(to: URL(fileURLWithPath: path))
        }
        try await Site.make { site in
            try await site.add(.alice)
            try await site.start(options: ["--endings-journal", journal]).whileRunning {}
            let copy = site.folder.path("copy")
            _ = try await Self.succeed(["backup", "--output", copy, "--data-dir", site.dataDirectory], at: site)
            let text = try String(contentsOfFile: journal, encoding: .utf8)
            let own = try #require(text.firstMatch(of: /"journal":"([^"]+)"/)).1
            try write([#""journal":"aa","mark":"begins","number":0"#], to: journal + ".1")
            try write([#""journal":"bb","mark":"begins","number":0"#], to: journal + ".2")
            try write(
                [
                    #""former":"aa","journal":"\#(own)","mark":"begins","number":0"#,
                    #""journal":"\#(own)","mark":"current","number":0"#,
                ], to: journal)
            let pruned = try await Self.succeed(["prune-journal", journal, "--keep", copy], at: site)
            #expect(pruned.output == "deleted \(journal).1\n")
            #expect(
                pruned.errors.contains("kept \(journal).2: it is of the server before a restore"), "\(pruned.errors)")
        }
    }

    @Test func `only former files of the journal that no kept copy needs are deleted`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let journal = site.folder.path("endings")
            let server = try await site.start(options: ["--endings-journal", journal])
            func end(_ command: String) async throws {
                let ended = try await site.administer(["user", command, Account.alice.name])
                #expect(ended.status == 0, "\(ended.errors)")
            }
            /// Copies the journal as the server renames a full one.
            func rotate(_ number: Int) throws -> String {
                try FileManager.default.copyItem(atPath: journal, toPath: "\(journal).\(number)")
                return "\(journal).\(number)"
            }
            let (old, recent) = try await server.whileRunning {
                try await end("disable")
                let old = try rotate(1)
                let copy = ["backup", "--output", site.folder.path("copy"), "--data-dir", site.dataDirectory]
                _ = try await Self.succeed(copy, at: site)
                try await end("enable")
                try await end("disable")
                return (old, try rotate(2))
            }
            func files() -> [String] { [old, recent].filter(FileManager.default.fileExists) }

            let prune = ["prune-journal", journal]
            for wrong in [["--keep", journal], ["--keep", site.folder.path("copy"), site.folder.path("none")]] {
                let refused = try await site.server(prune + wrong)
                #expect(refused.status == 3 && refused.errors.contains("no file was deleted"), "\(refused.errors)")
            }
            #expect(try await site.server(prune).status == 64)
            _ = try await Self.succeed(prune + ["--before", "2020-01-01"], at: site)
            #expect(files() == [old, recent])

            let pruned = try await Self.succeed(prune + ["--keep", site.folder.path("copy")], at: site)
            #expect(pruned.output == "deleted \(old)\n")
            #expect(files() == [recent])
            let key = site.folder.path("data2")
            try FileManager.default.createDirectory(atPath: key, withIntermediateDirectories: false)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: key)
            try FileManager.default.copyItem(atPath: site.dataDirectory + "/server.key", toPath: key + "/server.key")
            let restored = try await Self.succeed(
                ["restore", site.folder.path("copy"), "--data-dir", key, "--endings-journal", recent, journal], at: site
            )
            #expect(restored.output.contains("Ended again") || restored.errors.contains("Ended again"))

            #expect(try await site.server(prune + ["--before", "2100-01-01"]).status == 64)
            #expect(files() == [recent])
            let elsewhere = try await site.server(["prune-journal", "/nonexistent/endings", "--before", "2020-01-01"])
            #expect(elsewhere.status == 3, "\(elsewhere.errors)")
            let lines = try String(contentsOfFile: recent, encoding: .utf8)
            try Data(lines.replacing(/"at":"\d{4}/, with: #""at":"2020"#).utf8).write(to: URL(fileURLWithPath: recent))
            _ = try await Self.succeed(prune + ["--before", "2021-01-01"], at: site)
            #expect(files() == [])
            #expect(FileManager.default.fileExists(atPath: journal))
        }
    }
}
