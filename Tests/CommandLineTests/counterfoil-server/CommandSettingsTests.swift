import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import counterfoil_server

/// Every command with the settings file of a server, which also contains what the command does not use.
@Suite(.timeLimit(.minutes(10)))
struct CommandSettingsTests {
    /// A command, as the program describes itself.
    private struct Description: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                let name: String
            }

            let kind: String
            let isOptional: Bool
            let valueName: String?
            let names: [Name]?
        }

        let commandName: String
        let subcommands: [Description]?
        let arguments: [Argument]?

        /// The commands without subcommands, each with its words and the arguments without which it is not complete.
        func leaves(_ words: [String] = []) throws -> [(words: [String], required: [String])] {
            if let subcommands, !subcommands.isEmpty {
                return try subcommands.filter { $0.commandName != "help" }
                    .flatMap { try $0.leaves(words + [$0.commandName]) }
            }
            let required = try (arguments ?? []).filter { !$0.isOptional }.flatMap { argument in
                let name = argument.valueName ?? ""
                let value = try #require(CommandSettingsTests.values[name], "\(words) needs a value for \(name)")
                return argument.kind == "positional" ? [value] : ["--\(argument.names?.first?.name ?? "")", value]
            }
            return [(words, required + (CommandSettingsTests.more[words.joined(separator: " ")] ?? []))]
        }
    }

    /// Values by the names that the help has for them.
    private static let values = [
        "client-id": "lightbox", "directory": "./data", "file": "./file", "host": "example.com", "id": "1a2b",
        "name": "photos.read", "position": "1801387800123456.1234", "text": "See your photos", "type": "native",
        "uri": "https://api.example.com", "url": "http://127.0.0.1:8080/livez",
    ]

    /// Further arguments of commands that need one of several options.
    private static let more: [String: [String]] = [
        "after-restore": ["--end-sign-ins"], "audit export": ["--before", "2027-01-01"],
        "prune-journal": ["--before", "2026-01-01"],
        "resource create": ["--scope", "photos.read"], "restore": ["--end-sign-ins"],
        "user create": ["--email", "a@example.com", "--password-stdin"], "user password": ["--password-stdin"],
    ]

    /// The settings of the store and of TLS, of which a file has one kind only: a data directory with a certificate
    /// from files, or a database with one that the server orders.
    private static let kinds = [
        ["data-dir", "tls-certificate", "tls-key"],
        [
            "database", "server-key-file", "acme-contact", "acme-terms-agreed", "acme-directory", "acme-root",
            "acme-eab-kid", "acme-eab-key-file", "acme-challenge",
        ],
    ]

    /// Returns a file with every setting but those of the other kind.
    private static func file(ofKind kind: Int) throws -> String {
        let others = kinds[1 - kind]
        return try Settings.all.filter { !others.contains($0.name) }.map { setting in
            let value = setting.kind == .flag ? "true" : setting.example ?? setting.standardTexts.first
            return "\(setting.name): \(try #require(value, "\(setting.name) has neither an example nor a default"))\n"
        }.joined()
    }

    @Test func `every command accepts a full settings file, by option and by variable`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let described = try await RunningProgram(.server, ["--experimental-dump-help"], in: folder).ended()
            struct Program: Decodable {
                let command: Description
            }
            let commands = try JSONDecoder().decode(Program.self, from: Data(described.output.utf8)).command.leaves()
            #expect(commands.count > 50)
            for kind in Self.kinds.indices {
                let path = folder.path("\(kind).yaml")
                try Data(try Self.file(ofKind: kind).utf8).write(to: URL(fileURLWithPath: path))
                for (words, required) in commands {
                    #expect(throws: Never.self, "\(words)") {
                        try CounterfoilServerCommand.parseAsRoot(words + required + ["--config", path])
                    }
                }
                // The commands read it in one of two ways: all settings, or those of the store.
                for (arguments, environment) in [(["--config", path], [:]), ([], [SettingSources.variable: path])] {
                    #expect(throws: Never.self) {
                        _ = try ServeOptions.parse(arguments).configuration(environment)
                        let store = try InstallationOption.parse(arguments).settings(environment)
                        #expect(store.has(Settings.dataDir) == (kind == 0))
                        #expect(store.has(Settings.serverKeyFile) == (kind == 1))
                    }
                }
            }
        }
    }

    @Test func `each option of serve is a setting`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let described = try await RunningProgram(.server, ["serve", "--experimental-dump-help"], in: folder).ended()
            struct Program: Decodable {
                let command: Description
            }
            let command = try JSONDecoder().decode(Program.self, from: Data(described.output.utf8)).command
            let options = Set((command.arguments ?? []).compactMap { $0.names?.last?.name })
            #expect(options == Set(Settings.options.map(\.name)).union(["config", "help", "version"]))
        }
    }

    @Test func `each option of serve sets its setting and no other`() throws {
        for setting in Settings.options {
            let value = setting.kind == .flag ? "true" : setting.example ?? setting.standardTexts.first ?? "documents"
            let option = setting.kind == .flag ? "--\(setting.name)" : "--\(setting.name)=\(value)"
            #expect(try ServeOptions.parse([option]).texts == [setting.name: [value]])
        }
        #expect(try ServeOptions.parse([]).texts.isEmpty)
    }

    // A script reads 1 as the result of a check, so no mistake and no outage may have this code.
    @Test(arguments: [
        ["migrate", "--check"], ["audit", "verify"],
    ])
    func `a wrong settings file, a wrong command line and an outage differ from what a check finds`(
        command: [String]
    ) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let key = folder.path("server.key")
            try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: key))
            chmod(key, 0o600)
            let outage = "database: postgresql://counterfoil@127.0.0.1:1/counterfoil\nserver-key-file: \(key)\n"
            for (lines, arguments, variables, status) in [
                ("colour: blue\n", [], [:], CommandExit.refused),
                ("database: counterfoil\n", [], [:], CommandExit.refused),
                ("", [], [:], CommandExit.refused), (outage, [], [:], CommandExit.temporary),
                (outage, ["--nonsense"], [:], CommandExit.usage),
                (outage, ["--database", ""], [:], CommandExit.usage),
                ("# none\n", [], ["COUNTERFOIL_DATABASE": "counterfoil"], CommandExit.usage),
            ] as [(String, [String], [String: String], Int32)] {
                let path = folder.path("server.yaml")
                try Data(lines.utf8).write(to: URL(fileURLWithPath: path))
                let ended = try await RunningProgram(
                    .server, command + arguments + ["--config", path], environment: variables, in: folder
                ).ended()
                #expect(ended.status == status, "\(lines) \(arguments): \(ended.errors)")
            }
        }
    }

    @Test func `migrate leaves the server key alone, wherever it is named`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let database = "postgresql://counterfoil@127.0.0.1:1/counterfoil"
            let path = folder.path("server.yaml")
            try Data("database: \(database)\nserver-key-file: \(folder.path("none"))\n".utf8)
                .write(to: URL(fileURLWithPath: path))
            let key = ["COUNTERFOIL_SERVER_KEY_FILE": folder.path("none"), "COUNTERFOIL_DATABASE": database]
            for command in [["migrate"], ["migrate", "--check"]] {
                for (arguments, environment) in [
                    (command + ["--config", path], [:]), (command, [SettingSources.variable: path]), (command, key),
                ] {
                    let ended = try await RunningProgram(.server, arguments, environment: environment, in: folder)
                        .ended()
                    #expect(ended.status == 6, "\(ended.errors)")
                    #expect(ended.errors.contains("no connection to the database counterfoil at 127.0.0.1:1"))
                }
            }
        }
    }

    @Test func `migrate has nothing to do for a data directory, and needs the name of a database`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let path = folder.path("server.yaml")
            try Data("data-dir: \(folder.path("data"))\n".utf8).write(to: URL(fileURLWithPath: path))
            for command in [["migrate"], ["migrate", "--check"]] {
                let ended = try await RunningProgram(.server, command + ["--config", path], in: folder).ended()
                #expect(ended.status == 0)
                #expect(
                    ended.errors
                        == "There is nothing to do: a server upgrades its data directory \(folder.path("data")) when "
                        + "it starts.\n")
                let unnamed = try await RunningProgram(.server, command, in: folder).ended()
                #expect(unnamed.status == 64)
                #expect(unnamed.errors.hasPrefix("Error: Name the database with --database or COUNTERFOIL_DATABASE."))
            }
            #expect(!FileManager.default.fileExists(atPath: folder.path("data")))
        }
    }
}
