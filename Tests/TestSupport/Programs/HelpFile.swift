package import Foundation

/// The file with the complete help of a command on a terminal of 80 columns: `PROGRAM.txt` for a program,
/// `PROGRAM/user/create.txt` for a command, in the folder `Help` of its tests.
///
/// With `COUNTERFOIL_WRITE_HELP=1`, the tests write the files instead of comparing them.
package struct HelpFile: Sendable, Hashable, CustomStringConvertible {
    /// Whether the tests write the files.
    package static let writes = ProcessInfo.processInfo.environment["COUNTERFOIL_WRITE_HELP"] == "1"

    /// An error: a program did not print what was asked for, or a file has no command or a command no file.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let program: Product
    private let command: [String]
    private let folder: URL

    package var description: String { ([program.rawValue] + command).joined(separator: " ") }

    private var url: URL {
        folder.appendingPathComponent(([program.rawValue] + command).joined(separator: "/") + ".txt")
    }

    /// Returns the files of a program that there are, in the order of their names.
    package static func all(of program: Product, in folder: URL) -> [HelpFile] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        return paths.filter { $0.hasSuffix(".txt") }.sorted().compactMap { path in
            let words = path.dropLast(4).split(separator: "/").map(String.init)
            guard words.first == program.rawValue else { return nil }
            return HelpFile(program: program, command: Array(words.dropFirst()), folder: folder)
        }
    }

    /// Returns the text of the file and the help that the program prints; both are the same after it was written.
    package func texts() async throws -> (file: String, help: String) {
        let help = try await Self.output(of: program, command + ["--help"])
        if Self.writes { try write(help) }
        return (try String(contentsOf: url, encoding: .utf8), help)
    }

    /// Returns the names of the commands of a program that have no file, and of the files that have no command, and how
    /// many commands there are.
    package static func differences(of program: Product, in folder: URL) async throws -> (names: [String], count: Int) {
        let commands = Set(try await commands(of: program, in: folder))
        let files = Set(all(of: program, in: folder))
        if writes {
            for file in commands.subtracting(files) { _ = try await file.texts() }
            for file in files.subtracting(commands) { try FileManager.default.removeItem(at: file.url) }
            return ([], commands.count)
        }
        return (commands.symmetricDifference(files).map(\.description).sorted(), commands.count)
    }

    /// The files that the commands of a program need, as the program itself lists them.
    private static func commands(of program: Product, in folder: URL) async throws -> [HelpFile] {
        struct Dump: Decodable {
            struct Command: Decodable {
                let commandName: String
                let shouldDisplay: Bool
                let subcommands: [Command]?
            }

            let command: Command
        }
        func files(_ command: Dump.Command, _ words: [String]) -> [HelpFile] {
            let shown = (command.subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" }
            return [HelpFile(program: program, command: words, folder: folder)]
                + shown.flatMap { files($0, words + [$0.commandName]) }
        }
        let dump = try await output(of: program, ["--experimental-dump-help"])
        return files(try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command, [])
    }

    private func write(_ help: String) throws {
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(help.utf8).write(to: url)
    }

    private static func output(of program: Product, _ arguments: [String]) async throws -> String {
        try await TemporaryDirectory.forPrograms { folder in
            let ended = try await RunningProgram(program, arguments, environment: ["COLUMNS": "80"], in: folder).ended()
            guard ended.status == 0, ended.errors.isEmpty else {
                throw Failure(description: "\(program.rawValue) ended with \(ended.status): \(ended.errors)")
            }
            return ended.output
        }
    }
}
