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
            // The file has the settings of a server.
            let isConfigured = words == ["serve"] || words.first == "config"
            let required = try (arguments ?? []).filter { !$0.isOptional && !isConfigured }.flatMap { argument in
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

    /// Every setting with a valid value, but those of the store and of TLS, of which there are two kinds.
    private static let common = """
        issuer: https://id.example.com
        listen: [127.0.0.1:8080, "[::1]:8080"]
        redirect-listen: 0.0.0.0:80
        metrics-listen: 127.0.0.1:9090
        drain-delay: 5
        stop-timeout: 20
        default-audience: https://api.example.com
        endpoint-alias: token=/connect/token
        callback-origin: https://apps.example.com
        key-lifetime: 90d
        audit-retention: 400
        registration: administrators
        applications-per-developer: 20
        registrations-per-source: 20
        registrations-per-hour: 200
        plain-scheme: cursor
        no-development-redirect-uris: true
        require-pushed-requests: true
        require-dpop-nonce: true
        lowercase-token-type: true
        code-lifetime: 30s
        access-token-lifetime: 10m
        id-token-lifetime: 10m
        refresh-idle-lifetime: 2w
        refresh-lifetime: 90d
        session-idle-lifetime: 4h
        session-lifetime: 3d
        recent-sign-in: 30m
        page-lifetime: 20m
        pushed-request-lifetime: 60
        device-code-lifetime: 5m
        failures-per-person: 5
        failures-per-source: 50
        approvals-per-user: 30
        connections: 500
        database-connections: 4
        sign-in-window: 10m
        sign-in-delay-from: 4
        hsts-max-age: 86400
        trusted-proxy: [127.0.0.1, 10.0.0.0/8]
        cors-header: X-Datadog-Trace-Id
        outbound-network: 10.20.0.0/16
        outbound-ca: /etc/counterfoil/authorities.pem
        log-level: info
        log-format: json
        endings-journal: /var/lib/counterfoil-journal/endings
        """

    /// The lines of the store and of TLS: a data directory with a certificate from files, or a database with one that
    /// the server orders.
    private static let kinds = [
        "data-dir: /var/lib/counterfoil\ntls-certificate: /etc/tls/chain.pem\ntls-key: /etc/tls/key.pem\n",
        """
        database: postgresql://counterfoil@127.0.0.1:1/counterfoil
        server-key-file: /etc/counterfoil/server.key
        acme-contact: owner@example.com
        acme-terms-agreed: true
        acme-directory: https://acme.example.com/directory
        acme-root: /etc/counterfoil/acme-root.pem
        acme-eab-kid: kid-1
        acme-eab-key-file: /etc/counterfoil/eab.key
        acme-challenge: http-01

        """,
    ]

    private static func names(in text: String) -> Set<String> {
        Set(text.split(separator: "\n").map { String($0.prefix { $0 != ":" }) })
    }

    @Test func `every command accepts a full settings file, by option and by variable`() async throws {
        #expect(
            Self.names(in: Self.common).union(Self.kinds.flatMap(Self.names)) == Set(Setting.all.map(\.name)),
            "the files have every setting")
        try await TemporaryDirectory.forPrograms { folder in
            let described = try await RunningProgram(.server, ["--experimental-dump-help"], in: folder).ended()
            struct Program: Decodable {
                let command: Description
            }
            let commands = try JSONDecoder().decode(Program.self, from: Data(described.output.utf8)).command.leaves()
            #expect(commands.count > 50)
            for (kind, lines) in Self.kinds.enumerated() {
                let path = folder.path("\(kind).yaml")
                try Data((Self.common + "\n" + lines).utf8).write(to: URL(fileURLWithPath: path))
                for (number, (words, required)) in commands.enumerated() {
                    // Each command gets one of the files by the option, and the other one by the variable.
                    let invocation =
                        (kind + number).isMultiple(of: 2)
                        ? CommandInvocation(words + required + ["--config", path], environment: [:])
                        : CommandInvocation(words + required, environment: [CommandInvocation.variable: path])
                    #expect(throws: Never.self, "\(words) with \(lines)") {
                        let settings = try invocation.resolve()
                        do { _ = try invocation.command(with: settings) } catch {
                            throw Refused(text: settings.explanation(of: error)?.text ?? "\(error)")
                        }
                    }
                }
            }
        }
    }

    private struct Refused: Error {
        let text: String
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
                    (command + ["--config", path], [:]), (command, [CommandInvocation.variable: path]), (command, key),
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
