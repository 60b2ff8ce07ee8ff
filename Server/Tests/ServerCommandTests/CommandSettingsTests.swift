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
        func leaves(
            _ words: [String] = [], with values: [String: String]
        ) throws -> [(words: [String], required: [String])] {
            if let subcommands, !subcommands.isEmpty {
                return try subcommands.filter { $0.commandName != "help" }
                    .flatMap { try $0.leaves(words + [$0.commandName], with: values) }
            }
            let required = try (arguments ?? []).filter { !$0.isOptional }.flatMap { argument in
                let name = argument.valueName ?? ""
                let value = try #require(values[name], "\(words) needs a value for \(name)")
                return argument.kind == "positional" ? [value] : ["--\(argument.names?.first?.name ?? "")", value]
            }
            return [(words, required + (CommandSettingsTests.more[words.joined(separator: " ")] ?? []))]
        }
    }

    /// Values by the names that the help has for them.
    private static let values = [
        "address": "bob@example.com", "client-id": "lightbox", "host": "example.com", "id": "1a2b",
        "event": "evt_1", "label": "Photos", "name": "photos.read", "time": "2h", "webhook": "wh_1",
        "position": "1801387800123456.1234", "text": "See your photos", "type": "native",
        "uri": "https://api.example.com", "url": "http://127.0.0.1:1/livez",
    ]

    /// Further arguments of commands that need one of several options.
    private static let more: [String: [String]] = [
        "after-restore": ["--end-sign-ins"], "app edit": ["--publisher", "Ada"],
        "audit export": ["--until", "2027-01-01"], "branding edit": ["--name", "Photos"],
        "prune-journal": ["--before", "2026-01-01"],
        "resource create": ["--scope", "photos.read"], "resource edit": ["--name", "Photos"],
        "restore": ["--end-sign-ins"], "scope edit": ["--listed"],
        "unregistered edit": ["--allowed-host", "example.com"],
        "user create": ["--email", "a@example.com", "--password-stdin"], "user edit": ["--nickname", "Ada"],
        "user export": ["ada"], "user password": ["--password-stdin"], "webhook edit": ["--label", "Photos"],
    ]

    /// The settings of the store and of TLS, of which a file has one kind only: a data directory with a certificate
    /// from files and a mail server, or a database with one that the server orders and a program for mails.
    private static let kinds = [
        ["data-dir", "tls-certificate", "tls-key", "mail-server", "mail-credentials-file"],
        [
            "database", "server-key-file", "acme-contact", "acme-terms-agreed", "acme-directory", "acme-root",
            "acme-eab-kid", "acme-eab-key-file", "acme-challenge", "mail-program",
        ],
    ]

    /// Returns a file with every setting but those of the other kind.
    private static func file(ofKind kind: Int, with values: [String: String]) throws -> String {
        let others = kinds[1 - kind]
        return try Settings.all.filter { !others.contains($0.name) }.map { setting in
            let standard = setting.kind == .flag ? "true" : setting.example ?? setting.standardTexts.first
            let value = values[setting.name] ?? standard
            return "\(setting.name): \(try #require(value, "\(setting.name) has neither an example nor a default"))\n"
        }.joined()
    }

    /// The public key of RFC 7517 Appendix A.1.
    private static let signInKeys = """
        {"keys": [{"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
          "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}
        """

    /// Returns values of the settings that name a file, an address or a server, with which `serve` can start here.
    ///
    /// No database answers.
    private static func usableValues(
        ofKind kind: Int, issuer port: Int, _ authority: TestAuthority, in folder: TemporaryDirectory
    ) throws -> [String: String] {
        func file(_ name: String, _ text: String) throws -> String {
            let path = folder.path(name)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            chmod(path, 0o600)
            return path
        }
        let authorities = try file("authority.pem", authority.pem)
        let issued = try authority.issue(for: ["localhost", "apps.example.com"])
        return [
            "issuer": "https://localhost:\(port)", "listen": kind == 0 ? "systemd" : "127.0.0.1:0",
            "redirect-listen": "127.0.0.1:0", "metrics-listen": "127.0.0.1:0",
            "data-dir": folder.path("data"), "endings-journal": folder.path("endings-\(kind)"),
            "database": "postgresql://counterfoil@127.0.0.1:1/counterfoil",
            "server-key-file": try file("server.key", String(repeating: "k", count: 32)),
            "tls-certificate": try file("certificate.pem", issued.certificate),
            "tls-key": try file("key.pem", issued.key), "outbound-ca": authorities, "acme-root": authorities,
            "acme-directory": "https://127.0.0.1:1/directory",
            "mail-server": "smtp://127.0.0.1:1", "mail-credentials-file": try file("mail", "mailer\nsecret\n"),
            "mail-program": "/bin/false",
            "acme-eab-key-file": try file("eab.key", String(repeating: "YWFh", count: 10)),
            "external-sign-in-keys": try file("sign-in-keys.json", Self.signInKeys),
        ]
    }

    /// Runs commands, several at a time.
    private static func run(
        _ commands: [[String]], in folder: TemporaryDirectory
    ) async throws -> [(arguments: [String], end: EndedProgram)] {
        let lanes = 4
        return try await withThrowingTaskGroup(of: [([String], EndedProgram)].self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var ends: [([String], EndedProgram)] = []
                    for index in stride(from: lane, to: commands.count, by: lanes) {
                        let program = try RunningProgram(
                            .server, commands[index], input: "a long password of a test\n", in: folder)
                        ends.append((commands[index], try await program.ended()))
                    }
                    return ends
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// The exit codes of commands with a database that does not answer, where they differ from that of the outage.
    private static let withoutStore: [String: Int32] = [
        "apply": CommandExit.refused, "backup": CommandExit.refused, "restore": CommandExit.refused,
        "prune-journal": 0, "config check": 0,
        "config show": 0, "config schema": 0, "config example": 0, "doctor": CommandExit.found,
    ]

    // `demo` takes no settings, and has tests of its own.
    @Test func `every command runs with a full settings file of SQLite, and with one of PostgreSQL`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let described = try await RunningProgram(.server, ["--experimental-dump-help"], in: folder).ended()
            struct Program: Decodable {
                let command: Description
            }
            let values = Self.values.merging(["file": folder.path("file"), "directory": folder.path("other")]) { $1 }
            let commands = try JSONDecoder().decode(Program.self, from: Data(described.output.utf8)).command
                .leaves(with: values)
            #expect(commands.count > 50)
            let (socket, authority) = (try ListeningSocket(), try TestAuthority())
            for kind in Self.kinds.indices {
                let path = folder.path("\(kind).yaml")
                let usable = try Self.usableValues(ofKind: kind, issuer: socket.port, authority, in: folder)
                try Data(try Self.file(ofKind: kind, with: usable).utf8).write(to: URL(fileURLWithPath: path))
                let server = try RunningProgram(
                    .server, ["serve", "--config", path], passing: kind == 0 ? socket.handle : nil, in: folder)
                try await server.whileRunning {
                    let start = kind == 0 ? "Metrics are at" : "waiting for the database"
                    _ = try await server.said(start) { $0.errors.contains(start) ? true : nil }
                    // These run until they are stopped.
                    let others = commands.filter { ![["serve"], ["demo"], ["audit", "follow"]].contains($0.words) }
                    let trusted = ["--tls-authority", folder.path("authority.pem")]
                    let ended = try await Self.run(
                        others.map { $0.words + $0.required + ($0.words == ["doctor"] ? trusted : []) }
                            .map { $0 + ["--config", path] }, in: folder)
                    #expect(ended.count == others.count)
                    for (arguments, end) in ended {
                        let name = others.first { arguments.starts(with: $0.words) }?.words.joined(separator: " ") ?? ""
                        let expected =
                            switch (kind, name) {
                            case (_, "health"), (_, "mail test"), (0, "after-restore"): [CommandExit.temporary]
                            case (0, "doctor"): [0, CommandExit.found]
                            // Most of what they name is missing.
                            case (0, _): [0, CommandExit.refused]
                            default: [Self.withoutStore[name] ?? CommandExit.temporary]
                            }
                        #expect(expected.contains(end.status), "\(arguments): \(end.status) \(end.errors)")
                        #expect(!end.errors.contains(".yaml, line"), "\(arguments): \(end.errors)")
                        if kind == 1, ["backup", "restore"].contains(name) {
                            #expect(end.errors.contains("for a PostgreSQL database, use "), "\(end.errors)")
                        }
                    }
                    try await Self.follow(["--config", path], failing: kind == 1, in: folder)
                }
            }
        }
    }

    /// Runs `audit follow` until it shows an event, or until it fails because no database answers.
    private static func follow(
        _ arguments: [String], failing fails: Bool, in folder: TemporaryDirectory
    ) async throws {
        let follower = try RunningProgram(.server, ["audit", "follow"] + arguments, in: folder)
        guard !fails else {
            let end = try await follower.ended()
            return #expect(end.status == CommandExit.temporary, "\(end.errors)")
        }
        try await follower.whileRunning {
            // It shows what happens after it has begun.
            _ = try await Waiting.until("an event") {
                let change = ["branding", "edit", "--name", "Photos"] + arguments
                let end = try await RunningProgram(.server, change, in: folder).ended()
                #expect(end.status == 0)
                return follower.output.contains("setting done") ? true : nil
            }
        }
    }

    @Test func `a full settings file is read by option and by variable`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            for kind in Self.kinds.indices {
                let path = folder.path("\(kind).yaml")
                try Data(try Self.file(ofKind: kind, with: [:]).utf8).write(to: URL(fileURLWithPath: path))
                // The commands read it in one of two ways: all settings, or those of the store.
                for (arguments, environment) in [(["--config", path], [:]), ([], [SettingSources.variable: path])] {
                    #expect(throws: Never.self) {
                        _ = try ServeCommand.parse(arguments).options.configuration(environment)
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
            #expect(try ServeCommand.parse([option]).options.texts == [setting.name: [value]])
        }
        #expect(try ServeCommand.parse([]).options.texts.isEmpty)
    }

    // A script reads 1 as the result of a check, so no mistake and no outage may have this code.
    @Test(arguments: [
        ["migrate", "--check"], ["audit", "verify"], ["app", "check", "lightbox", "https://app.example.com/callback"],
        ["doctor"],
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
                ("", [], [:], CommandExit.refused),
                // To doctor, an outage is a fault of the installation.
                (outage, [], [:], command == ["doctor"] ? CommandExit.found : CommandExit.temporary),
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
