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

    // SEC-415
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
}
