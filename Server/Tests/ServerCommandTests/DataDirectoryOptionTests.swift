import Foundation
import TestSupport
import Testing

/// The data directory of commands with and without `--data-dir`.
@Suite(.timeLimit(.minutes(10)))
struct DataDirectoryOptionTests {
    private static func run(
        _ arguments: [String], _ environment: [String: String], in folder: TemporaryDirectory
    ) async throws -> EndedProgram {
        try await RunningProgram(.server, arguments, environment: environment, in: folder).ended()
    }

    @Test func `without the option, the environment variable names the directory`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let named = ["COUNTERFOIL_DATA_DIR": folder.path("named")]
            let create = ["scope", "create", "photos.read", "--description", "See your photos"]
            #expect(try await Self.run(create, named, in: folder).status == 0)
            #expect(FileManager.default.fileExists(atPath: folder.path("named/counterfoil.db")))

            let listed = try await Self.run(["scope", "list"], named, in: folder)
            #expect(listed.output.contains("photos.read"))
            let other = try await Self.run(["scope", "list", "--data-dir", folder.path("other")], named, in: folder)
            #expect(other.status == 3)
            #expect(other.errors.contains("no data directory found at \(folder.path("other"))"))
        }
    }

    @Test func `without the option and the variable, the directory is the usual one of the user`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let home = ["HOME": folder.path("home")]
            let ended = try await Self.run(["scope", "list"], home, in: folder)
            #if os(Linux)
                let usual =
                    geteuid() == 0 ? "/var/lib/counterfoil" : folder.path("home/.local/share/counterfoil-server")
            #else
                let usual =
                    (geteuid() == 0 ? "" : folder.path("home")) + "/Library/Application Support/counterfoil-server"
            #endif
            #expect(ended.status == 3)
            #expect(ended.errors.contains("no data directory found at \(usual);"))
        }
    }

    @Test(arguments: [
        ("/var/lib/photos", true), ("/var/lib/photos:/var/lib/other", false), ("photos", false), ("", false),
    ])
    func `the state directory of systemd goes before the usual one, if it is one path`(
        state: String, counts: Bool
    ) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            // The name is one that does not exist.
            let state = state.replacingOccurrences(of: "/var/lib/photos", with: folder.path("state"))
            let environment = ["HOME": folder.path("home"), "STATE_DIRECTORY": state]
            let ended = try await Self.run(["scope", "list"], environment, in: folder)
            #expect(ended.status == 3)
            #expect(ended.errors.contains("no data directory found at \(folder.path("state"));") == counts)
            let named = environment.merging(["COUNTERFOIL_DATA_DIR": folder.path("named")]) { $1 }
            let other = try await Self.run(["scope", "list"], named, in: folder)
            #expect(other.errors.contains("no data directory found at \(folder.path("named"));"))
        }
    }

    @Test func `an empty variable is wrong usage`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let ended = try await Self.run(["scope", "list"], ["COUNTERFOIL_DATA_DIR": ""], in: folder)
            #expect(ended.status == 64)
            #expect(ended.errors.hasPrefix("Error: COUNTERFOIL_DATA_DIR cannot be empty.\n"))
        }
    }

    @Test func `each start of the server names its data directory`() async throws {
        try await Site.make { site in
            let server = try await site.start()
            await server.stop()
            #expect(server.errors.contains("with the data in \(site.dataDirectory).\n"))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `root opens nothing in a data directory of another user`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let directory = try folder.makeFolder("data").url.path
            // A link to a database that root could read, and the user could not.
            let create = ["scope", "create", "photos.read", "--description", "Photos", "--data-dir"]
            #expect(try await Self.run(create + [folder.path("own")], [:], in: folder).status == 0)
            symlink(folder.path("own/counterfoil.db"), directory + "/counterfoil.db")
            symlink(folder.path("own/server.key"), directory + "/server.key")
            try #require(chown(directory, 65_534, 65_534) == 0)
            let before = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
            for command in [
                ["scope", "list"], ["backup", "--output", "-"], ["after-restore", "--end-sign-ins"],
                ["restore", folder.path("own/server.key"), "--end-sign-ins"],
            ] {
                let ended = try await Self.run(command + ["--data-dir", directory], [:], in: folder)
                #expect(ended.status == 3, "\(command)")
                #expect(ended.errors.contains("belongs to the user"), "\(command): \(ended.errors)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == before)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "for root only"), arguments: [0o720, 0o702, 0o1777] as [mode_t])
    func `root opens nothing in a data directory that other users can write to`(mode: mode_t) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let directory = folder.path("data")
            let create = ["scope", "create", "photos.read", "--description", "Photos", "--data-dir", directory]
            #expect(try await Self.run(create, [:], in: folder).status == 0)
            // It would wait for a process that writes.
            try #require(mkfifo(directory + "/last-settings.json", 0o600) == 0)
            chmod(directory, mode)
            let before = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
            let copy = folder.path("copy")
            for command in [
                ["serve", "--issuer", "http://localhost:1", "--listen", "127.0.0.1:0"], ["scope", "list"],
                ["backup", "--output", copy], ["after-restore", "--end-sign-ins"],
                ["restore", directory + "/server.key", "--end-sign-ins"], ["doctor"],
            ] {
                let ended = try await Self.run(command + ["--data-dir", directory], [:], in: folder)
                #expect(ended.status == (command == ["doctor"] ? 1 : 3), "\(command)")
                let output = ended.errors + ended.output
                #expect(output.contains("other users can write to"), "\(command): \(output)")
                #expect(output.contains("so root does not open it"), "\(command): \(output)")
                #expect(output.contains("chmod 700 \(directory)"), "\(command): \(output)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == before)
        }
    }

    @Test func `a link in place of the lock or of the server key is not followed`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let (directory, elsewhere) = (folder.path("data"), folder.path("elsewhere"))
            let create = ["scope", "create", "photos.read", "--description", "Photos", "--data-dir", directory]
            #expect(try await Self.run(create, [:], in: folder).status == 0)
            symlink(elsewhere, directory + "/server.lock")
            let serve = ["serve", "--issuer", "http://localhost:1", "--listen", "127.0.0.1:0", "--data-dir", directory]
            let locked = try await Self.run(serve, [:], in: folder)
            #expect(locked.status == 3 && locked.errors.contains("server.lock: it is a link; delete it"))
            #expect(!FileManager.default.fileExists(atPath: elsewhere))
            for name in ["server.key", "server.key.new"] {
                try FileManager.default.moveItem(atPath: directory + "/server.key", toPath: elsewhere)
                symlink(elsewhere, directory + "/" + name)
                let listed = try await Self.run(["scope", "list", "--data-dir", directory], [:], in: folder)
                #expect(listed.status == 3 && listed.errors.contains("\(name) is a link; put the file itself there"))
                unlink(directory + "/" + name)
                try FileManager.default.moveItem(atPath: elsewhere, toPath: directory + "/server.key")
            }
            #expect(try await Self.run(["scope", "list", "--data-dir", directory], [:], in: folder).status == 0)
        }
    }
}
