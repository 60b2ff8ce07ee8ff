import Foundation
import TestSupport
import Testing

/// The files that `backup` writes, and those that it must not touch.
@Suite(.timeLimit(.minutes(5)))
struct BackupOutputTests {
    @Test func `backup refuses a file that exists, and leaves nothing when the disk is full`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let path = site.folder.path("copy")
            try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
            let existing = try await site.administer(["backup", "--output", path])
            #expect(existing.status == 3 && existing.errors.contains("use --replace"))
            let full = try await RunningProgram(
                .server, ["backup", "--output", site.folder.path("full"), "--data-dir", site.dataDirectory],
                fileSizeLimit: 64 * 1024, in: site.folder
            ).ended()
            #expect(full.status == 6, "\(full.errors)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: site.folder.url.path).allSatisfy {
                    !$0.hasPrefix("full")
                })
        }
    }

    /// Runs the server program as a user without rights.
    private static func runAsNobody(_ arguments: [String], in folder: TemporaryDirectory) async throws -> EndedProgram {
        try await RunningProgram(
            at: "/usr/bin/setpriv",
            ["--reuid=65534", "--regid=65534", "--clear-groups", try Product.server.executable.path] + arguments,
            in: folder
        ).ended()
    }

    /// Returns true if this process may run the program as that user, who can read it.
    @Sendable private static func canRunAsNobody() async -> Bool {
        guard geteuid() == 0, let folder = try? TemporaryDirectory() else { return false }
        return (try? await runAsNobody(["--version"], in: folder))?.status == 0
    }

    @Test(.enabled("only root can run it as another user") { await canRunAsNobody() })
    func `a missing permission is the reason in the messages of backup and restore`() async throws {
        try await Site.make { site in
            try await site.serving {}
            let denied = try site.folder.makeFolder("denied")
            chmod(site.folder.url.path, 0o711)
            chmod(denied.url.path, 0o755)
            for name in try FileManager.default.contentsOfDirectory(atPath: site.dataDirectory) + [""] {
                #expect(chown(site.dataDirectory + "/" + name, 65534, 65534) == 0)
            }
            let copy = denied.path("c")
            let copied = try await Self.runAsNobody(
                ["backup", "--output", copy, "--data-dir", site.dataDirectory], in: site.folder)
            #expect(copied.status == 3)
            #expect(
                copied.errors == """
                    counterfoil-server: cannot write \(copy).partial: Permission denied; let this user write to its \
                    directory, or name another place

                    """)
            chmod(denied.url.path, 0o700)
            let restored = try await Self.runAsNobody(
                ["restore", "/etc/hosts", "--data-dir", denied.url.path, "--end-sign-ins"], in: site.folder)
            #expect(restored.status == 3)
            #expect(
                restored.errors == """
                    counterfoil-server: cannot read the data directory \(denied.url.path) (Permission denied); run the \
                    command as the user of the server; nothing was changed

                    """)
        }
    }

    @Test func `backup --replace replaces a copy and an empty file, and no other file`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let path = site.folder.path("copy")
            func backup() async throws -> EndedProgram {
                try await site.administer(["backup", "--output", path, "--replace"])
            }
            try Data().write(to: URL(fileURLWithPath: path))
            let empty = try await backup()
            #expect(empty.status == 0, "\(empty.errors)")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            var copy = try Data(contentsOf: URL(fileURLWithPath: path))
            // A damaged copy is one, too.
            copy[200] ^= 1
            try copy.write(to: URL(fileURLWithPath: path))
            let damaged = try await backup()
            #expect(damaged.status == 0, "\(damaged.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) != copy)

            let database = try Data(contentsOf: URL(fileURLWithPath: site.dataDirectory + "/counterfoil.db"))
            for (content, reason) in [
                (Data("mine".utf8), "it is another file"), (database, "it is a database, which a server may use"),
                (copy.dropLast(1), "its end is missing"),
            ] {
                try content.write(to: URL(fileURLWithPath: path))
                let refused = try await backup()
                #expect(refused.status == 3, "\(reason)")
                #expect(refused.errors.contains("\(path) is not a copy that backup has made"), "\(refused.errors)")
                #expect(refused.errors.contains(reason), "\(refused.errors)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
            }
        }
    }

    @Test func `backup writes nothing into the data directory`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            let data = site.dataDirectory
            let link = site.folder.path("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: data)
            try FileManager.default.createDirectory(atPath: data + "/folder", withIntermediateDirectories: false)
            let before = try Self.contents(of: data)
            for output in [
                data + "/counterfoil.db", data + "/server.key", link + "/counterfoil.db", data + "/new",
                link + "/folder/new", data + "/folder/../new",
            ] {
                for options in [[], ["--replace"]] {
                    let ended = try await site.administer(["backup", "--output", output] + options)
                    #expect(ended.status == 3, "\(output): \(ended.errors)")
                    #expect(try Self.contents(of: data) == before, "\(output)")
                    #expect(ended.errors.contains("\(output) is in the data directory"), "\(ended.errors)")
                }
            }
        }
    }

    @Test func `backup does not replace a file of the server that has a name outside of the data directory`()
        async throws
    {
        try await Site.make { site in
            try await site.add(.alice)
            let journal = site.folder.path("endings")
            try await site.start(options: ["--endings-journal", journal]).whileRunning {}
            let (output, data) = (site.folder.path("output"), site.dataDirectory)
            for (file, name) in [
                (data + "/counterfoil.db", "the database"), (data + "/server.key", "the server key"),
                (journal, "the endings journal"),
            ] {
                let before = try Data(contentsOf: URL(fileURLWithPath: file))
                // The name of the draft of a copy counts, too.
                for place in [output, output + ".partial"] {
                    try FileManager.default.linkItem(atPath: file, toPath: place)
                    let ended = try await site.administer(["backup", "--output", output, "--replace"])
                    #expect(ended.status == 3, "\(name)")
                    #expect(ended.errors.contains("\(place) is \(name) of the server"), "\(ended.errors)")
                    try FileManager.default.removeItem(atPath: place)
                }
                #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
            }
            let named = try await site.administer(["backup", "--output", journal, "--replace"])
            #expect(named.status == 3 && named.errors.contains("is the endings journal of the server"))
        }
    }

    /// The files of a directory with their contents.
    private static func contents(of directory: String) throws -> [String: Data] {
        try FileManager.default.subpathsOfDirectory(atPath: directory).reduce(into: [:]) { files, name in
            files[name] = FileManager.default.contents(atPath: directory + "/" + name) ?? Data()
        }
    }
}
