import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Copies, restores and an endings journal on a disk that is full.
@Suite(.timeLimit(.minutes(10)))
struct FullDiskTests {
    @Test func `a restore on a full disk leaves no database, and succeeds when there is space`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let copy = site.folder.path("copy")
            let made = try await site.administer(["backup", "--output", copy])
            #expect(made.status == 0, "\(made.errors)")
            let target = try site.folder.makeFolder("restored")
            try FileManager.default.copyItem(
                atPath: site.dataDirectory + "/server.key", toPath: target.path("server.key"))
            let restore = ["restore", copy, "--data-dir", target.url.path, "--end-sign-ins"]
            let full = try await RunningProgram(.server, restore, fileSizeLimit: 64 * 1024, in: site.folder).ended()
            #expect(full.status == 6)
            #expect(
                full.errors == """
                    No server starts on \(target.url.path) before a restore has succeeded.
                    counterfoil-server: cannot write to \(target.url.path); check that the disk is not full

                    """)
            let left = try FileManager.default.contentsOfDirectory(atPath: target.url.path)
            #expect(left == ["server.key"])
            let restored = try await site.server(restore)
            #expect(restored.status == 0, "\(restored.errors)")
        }
    }

    @Test func `a backup to standard output on a full disk sends nothing and leaves no copy`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let full = try await RunningProgram(
                .server, ["backup", "--output", "-", "--data-dir", site.dataDirectory], fileSizeLimit: 64 * 1024,
                in: site.folder
            ).ended()
            #expect(full.status == 6)
            #expect(full.errors.contains("cannot write the copy; check that the disk is not full"), "\(full.errors)")
            #expect(full.output.isEmpty)
            let left = try FileManager.default.contentsOfDirectory(atPath: site.dataDirectory)
            #expect(left.filter { $0.contains(".backup") } == [])
        }
    }

    @Test func `a journal that got half a line is as before, and gets what it lacks when there is space`() async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(options: ["--refresh-tokens", "always"])
            let journal = site.folder.path("endings")
            // Beyond what the log of the database needs before it begins again.
            let limit = 16 << 20
            let server = try await site.start(options: ["--endings-journal", journal], fileSizeLimit: limit)
            try await server.whileRunning {
                var browser = UserAgent()
                let tokens = try await [
                    RestoredCopyTests.signIn(with: &browser, clientID, at: site).refresh_token,
                    RestoredCopyTests.signIn(with: &browser, clientID, at: site).refresh_token,
                    RestoredCopyTests.signIn(with: &browser, clientID, at: site).refresh_token,
                ]
                // An ending is the last line, so that the server finds the last ending of a long file at once.
                try await Self.revoke(tokens[2], of: clientID, at: site)
                let begin = try Data(contentsOf: URL(fileURLWithPath: journal))
                // There is space for the beginning of the next line only.
                try Self.fill(journal, to: limit - 40)
                let full = try Data(contentsOf: URL(fileURLWithPath: journal))
                #expect(full.count == limit - 40)
                try await Self.revoke(tokens[0], of: clientID, at: site)
                #expect(try Data(contentsOf: URL(fileURLWithPath: journal)) == full)
                _ = try await server.said("that the disk is full") { program in
                    program.errors.contains("cannot write all of it; check that the disk is not full") ? true : nil
                }

                try begin.write(to: URL(fileURLWithPath: journal))
                try await Self.revoke(tokens[1], of: clientID, at: site)
                let text = try String(contentsOfFile: journal, encoding: .utf8)
                #expect(text.split(separator: "\n").filter { $0.contains("\"ended\":\"grant\"") }.count == 3)
                #expect(text.hasSuffix("\n"))
            }
        }
    }

    /// Repeats the last line of a journal, the last time with spaces, until the file has a number of bytes.
    private static func fill(_ path: String, to size: Int) throws {
        let content = try String(contentsOfFile: path, encoding: .utf8)
        let line = String(try #require(content.split(separator: "\n").last))
        let missing = size - content.utf8.count
        let length = line.utf8.count + 1
        let padding = String(repeating: " ", count: missing % length)
        let lines = String(repeating: line + "\n", count: missing / length - 1) + line + padding + "\n"
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(lines.utf8))
        try file.close()
    }

    private static func revoke(_ token: String, of clientID: String, at site: Site) async throws {
        var agent = UserAgent()
        let answer = try await agent.send(
            .post, "\(site.issuer)/oauth2/revoke", form: FormParameters(["client_id": clientID, "token": token]))
        #expect(answer.status == 200)
    }
}
