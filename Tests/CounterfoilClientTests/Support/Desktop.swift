#if os(Linux)
    import CounterfoilClient
    import Foundation
    import Testing

    /// A person's Linux desktop in a folder of its own: a home, a place for sockets, and the openers that are installed.
    struct Desktop: ~Copyable {
        private let directory: TemporaryDirectory
        /// What every program of the desktop finds in its environment.
        let environment: [String: String]

        init(home: String = "home", hasRuntimeFolder: Bool = true) throws {
            let directory = try TemporaryDirectory()
            var environment = [
                "HOME": directory.file(home).path, "PATH": "/usr/bin:/bin",
                // Openers ask only whether there is a screen.
                "DISPLAY": ":99", "BROWSER": "/bin/false",
            ]
            try FileManager.default.createDirectory(at: directory.file(home), withIntermediateDirectories: true)
            if hasRuntimeFolder {
                let runtime = directory.file("run")
                try FileManager.default.createDirectory(
                    at: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                environment["XDG_RUNTIME_DIR"] = runtime.path
            }
            self.directory = directory
            self.environment = environment
        }

        var home: URL { URL(fileURLWithPath: environment["HOME"] ?? "/nonexistent") }
        var applications: URL { home.appendingPathComponent(".local/share/applications") }
        var choices: URL { home.appendingPathComponent(".config/mimeapps.list") }
        var sockets: URL {
            (environment["XDG_RUNTIME_DIR"].map { URL(fileURLWithPath: $0) } ?? home.appendingPathComponent(".cache"))
                .appendingPathComponent("counterfoil")
        }

        /// The names of the files in a folder; empty when it is not there.
        func files(in folder: URL) -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
        }

        func text(of file: URL) -> String? { try? String(contentsOf: file, encoding: .utf8) }

        func write(_ text: String, to file: URL) throws {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }

        func file(_ name: String) -> URL { directory.file(name) }

        /// The programs that a browser could open an address with here.
        static var openers: [[String]] {
            [["/usr/bin/xdg-open"], ["/usr/bin/gio", "open"]].filter {
                FileManager.default.isExecutableFile(atPath: $0[0])
            }
        }
    }

    /// How a program of a desktop ended, and what it said.
    struct DesktopProgram {
        let status: Int32
        let errors: String

        /// Runs a program until it ends.
        static func run(_ words: [String], environment: [String: String]) async throws -> DesktopProgram {
            let errors = try OutputPipe()
            let process = try ChildProcess(
                path: words[0], arguments: Array(words.dropFirst()), environment: environment,
                standardError: errors.writingEnd)
            let told = await errors.text()
            return DesktopProgram(status: await process.exitStatus ?? -1, errors: told)
        }
    }
#endif
