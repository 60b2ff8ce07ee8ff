#if os(Linux)
    import TestSupport
    @_spi(Counterfoil) import CounterfoilClient
    import Foundation
    import Testing

    /// An isolated Linux desktop: a home directory, a runtime directory for sockets, and the installed openers.
    struct Desktop: ~Copyable {
        private let directory: TemporaryDirectory
        /// The environment of every program of the desktop.
        let environment: [String: String]

        init(home: String = "home", hasRuntimeFolder: Bool = true) throws {
            let directory = try TemporaryDirectory()
            var environment = [
                "HOME": directory.file(home).path, "PATH": "/usr/bin:/bin",
                // Openers only check whether there is a display.
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

        /// Returns the names of the files in a folder; empty if it does not exist.
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

        /// The installed programs with which a browser opens a URL.
        static var openers: [[String]] {
            [["/usr/bin/xdg-open"], ["/usr/bin/gio", "open"]].filter {
                FileManager.default.isExecutableFile(atPath: $0[0])
            }
        }
    }

    /// The exit status and error output of a program of a desktop.
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
