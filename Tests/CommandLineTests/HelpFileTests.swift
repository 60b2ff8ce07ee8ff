import Foundation
import TestSupport
import Testing

/// The complete help of the programs on a terminal of 80 columns, in one text file for each command.
///
/// With `COUNTERFOIL_WRITE_HELP=1`, the tests write the files instead of comparing them.
@Suite(.timeLimit(.minutes(10)))
struct HelpFileTests {
    private static let writes = ProcessInfo.processInfo.environment["COUNTERFOIL_WRITE_HELP"] == "1"

    @Test(arguments: HelpFile.all(of: .server))
    func `the help of a command of the server is that of its file`(file: HelpFile) async throws {
        try await Self.compare(file)
    }

    @Test(arguments: HelpFile.all(of: .client))
    func `the help of a command of the client is that of its file`(file: HelpFile) async throws {
        try await Self.compare(file)
    }

    @Test(arguments: [Product.server, .client])
    func `every command has a file with its help, and every file has a command`(program: Product) async throws {
        let commands = Set(try await HelpFile.commands(of: program))
        let files = Set(HelpFile.all(of: program))
        #expect(commands.count > 10)
        if Self.writes {
            for file in commands.subtracting(files) { try file.write(try await file.help()) }
            for file in files.subtracting(commands) { try FileManager.default.removeItem(at: file.url) }
        } else {
            #expect(commands.symmetricDifference(files).map(\.testDescription).sorted() == [])
        }
    }

    private static func compare(_ file: HelpFile) async throws {
        let help = try await file.help()
        if writes { return try file.write(help) }
        #expect(try String(contentsOf: file.url, encoding: .utf8) == help)
    }
}

/// The file with the help of a command: `Help/PROGRAM.txt` for a program, `Help/PROGRAM/user/create.txt` for a command.
struct HelpFile: Sendable, Hashable, CustomTestStringConvertible {
    let program: Product
    let command: [String]

    var testDescription: String { ([program.rawValue] + command).joined(separator: " ") }

    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Help")

    var url: URL {
        Self.folder.appendingPathComponent(([program.rawValue] + command).joined(separator: "/") + ".txt")
    }

    /// The files of a program that there are, in the order of their names.
    static func all(of program: Product) -> [HelpFile] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        return paths.filter { $0.hasSuffix(".txt") }.sorted().compactMap { path in
            let words = path.dropLast(4).split(separator: "/").map(String.init)
            return words.first == program.rawValue ? HelpFile(program: program, command: Array(words.dropFirst())) : nil
        }
    }

    /// The files that the commands of a program need, as the program itself lists them.
    static func commands(of program: Product) async throws -> [HelpFile] {
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
            return [HelpFile(program: program, command: words)]
                + shown.flatMap { files($0, words + [$0.commandName]) }
        }
        let dump = try await output(of: program, ["--experimental-dump-help"])
        return files(try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command, [])
    }

    /// Returns the help that the program prints.
    func help() async throws -> String { try await Self.output(of: program, command + ["--help"]) }

    func write(_ help: String) throws {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(help.utf8).write(to: url)
    }

    private static func output(of program: Product, _ arguments: [String]) async throws -> String {
        try await TemporaryDirectory.forPrograms { folder in
            let ended = try await RunningProgram(program, arguments, environment: ["COLUMNS": "80"], in: folder).ended()
            #expect(ended.status == 0 && ended.errors.isEmpty)
            return ended.output
        }
    }
}
