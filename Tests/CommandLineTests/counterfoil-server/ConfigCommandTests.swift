import CounterfoilProtocol
import Foundation
import TestSupport
import Testing

/// The commands that show the settings of the server.
@Suite(.timeLimit(.minutes(10)))
struct ConfigCommandTests {
    private struct Row: Decodable {
        let name: String
        let value: Value?
        let origin: String
        let variable: String?
        let file: String?
        let line: Int?
    }

    /// A value or a list of them.
    private enum Value: Decodable, Equatable {
        case one(String)
        case many([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self =
                if let text = try? container.decode(String.self) { .one(text) } else {
                    .many(try container.decode([String].self))
                }
        }
    }

    private static func run(
        _ arguments: [String], _ environment: [String: String] = [:], in folder: TemporaryDirectory
    ) async throws -> EndedProgram {
        try await RunningProgram(
            .server, ["config"] + arguments, environment: environment.merging(["HOME": folder.url.path]) { $1 },
            in: folder
        ).ended()
    }

    private static let file = """
        # A comment
        issuer: https://id.example.com
        listen: "127.0.0.1:8080"
        trusted-proxy:
          - 127.0.0.1
          - 10.0.0.0/8
        code-lifetime: 90s
        connections: 500
        require-dpop-nonce: true
        """

    @Test func `an option goes before the environment, and the environment before the file`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let path = folder.path("server.yaml")
            try Data(Self.file.utf8).write(to: URL(fileURLWithPath: path))
            let environment = [
                "COUNTERFOIL_LISTEN": "127.0.0.1:8081", "COUNTERFOIL_CONNECTIONS": "600",
                "COUNTERFOIL_OUTBOUND_NETWORK": "10.1.0.0/16, 10.2.0.0/16", "COUNTERFOIL_REQUIRE_DPOP_NONCE": "false",
                "COUNTERFOIL_SERVER_KEY": Base64URL.encode([UInt8](repeating: 7, count: 32)),
            ]
            let ended = try await Self.run(
                ["show", "--json", "--config", path, "--connections", "700", "--log-level=debug"], environment,
                in: folder)
            #expect(ended.status == 0, "\(ended.errors)")
            let rows = try JSONDecoder().decode([Row].self, from: Data(ended.output.utf8))
            func row(_ name: String) throws -> Row { try #require(rows.first { $0.name == name }) }

            #expect(try row("issuer").value == .one("https://id.example.com"))
            #expect(try row("issuer").file == path)
            #expect(try row("issuer").line == 2)
            #expect(try row("listen").value == .many(["127.0.0.1:8081"]))
            #expect(try row("listen").variable == "COUNTERFOIL_LISTEN")
            #expect(try row("trusted-proxy").value == .many(["127.0.0.1", "10.0.0.0/8"]))
            #expect(try row("outbound-network").value == .many(["10.1.0.0/16", "10.2.0.0/16"]))
            #expect(try row("connections").value == .one("700"))
            #expect(try row("connections").origin == "option")
            #expect(try row("log-level").value == .one("debug"))
            #expect(try row("require-dpop-nonce").value == .one("false"))
            #expect(try row("code-lifetime").value == .one("90s"))
            #expect(try row("session-lifetime").value == .one("7d"))
            #expect(try row("session-lifetime").origin == "default")
            #expect(try row("server-key").value == .one("(set)"))
            #expect(!ended.output.contains("BwcHBwcH"))

            let text = try await Self.run(["show", "--config", path], environment, in: folder)
            #expect(text.output.contains(/issuer +https:\/\/id\.example\.com  \[.*server\.yaml, line 2\]\n/))
            #expect(text.output.contains(/server-key +\(set\)  \[COUNTERFOIL_SERVER_KEY\]\n/))
        }
    }

    @Test(
        arguments: [
            (["--listen", "here"], [:], "Error: --listen here: must be HOST:PORT", 64),
            ([], ["COUNTERFOIL_LISTEN": "here"], "Error: COUNTERFOIL_LISTEN here: must be HOST:PORT", 64),
            ([], ["COUNTERFOIL_CONNECTIONS": "1"], "Error: COUNTERFOIL_CONNECTIONS must be a number from 16", 64),
            (
                [], ["COUNTERFOIL_REQUIRE_DPOP_NONCE": "yes"],
                "counterfoil-server: COUNTERFOIL_REQUIRE_DPOP_NONCE must be true or false", 3
            ),
            ([], ["COUNTERFOIL_SERVER_CONFIG": ""], "counterfoil-server: COUNTERFOIL_SERVER_CONFIG cannot be empty", 3),
            ([], ["COUNTERFOIL_SITE_NAME": "Photos"], "counterfoil-server: COUNTERFOIL_SITE_NAME is no setting;", 3),
            (
                [], ["OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"],
                "counterfoil-server: cannot send traces: OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL", 3
            ),
            (["--session-lifetime", "1h"], [:], "Error: --session-idle-lifetime cannot be longer", 64),
            (["--sign-in-window", "5s"], [:], "Error: --sign-in-window must be a time from 1m to 1d", 64),
        ] as [([String], [String: String], String, Int32)])
    func `an error names the place of the wrong value`(
        options: [String], environment: [String: String], error: String, status: Int32
    ) async throws {
        try await TemporaryDirectory.forPrograms { folder in
            var environment = environment
            environment["COUNTERFOIL_DATA_DIR"] = folder.path("data")
            environment["COUNTERFOIL_ISSUER"] = "http://127.0.0.1:8080"
            environment["COUNTERFOIL_LISTEN"] = environment["COUNTERFOIL_LISTEN"] ?? "127.0.0.1:8080"
            let ended = try await Self.run(["check"] + options, environment, in: folder)
            #expect(ended.status == status)
            #expect(ended.errors.hasPrefix(error), "\(ended.errors)")
        }
    }

    @Test func `a mistyped variable is a warning with the nearest name, and a known one is none`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            var environment = [
                "COUNTERFOIL_DATA_DIR": folder.path("data"), "COUNTERFOIL_ISSUER": "http://127.0.0.1:8080",
                "COUNTERFOIL_LISTEN": "127.0.0.1:8080", "COUNTERFOIL_PROFILE": "work",
                "COUNTERFOIL_BACKUP_KEEP": "14",
                // Kubernetes sets these for a Service.
                "COUNTERFOIL_SERVICE_HOST": "10.0.0.1", "COUNTERFOIL_PORT": "tcp://10.0.0.1:80",
                "COUNTERFOIL_PORT_80_TCP_ADDR": "10.0.0.1",
            ]
            let known = try await Self.run(["check"], environment, in: folder)
            #expect(known.status == 0)
            #expect(known.errors.isEmpty, "\(known.errors)")
            environment["COUNTERFOIL_ISUER"] = "hidden"
            environment["COUNTERFOIL_WEATHER_STATION"] = "hidden"
            let warned = try await Self.run(["check"], environment, in: folder)
            #expect(warned.status == 0)
            #expect(
                warned.errors == """
                    warning: the environment variable COUNTERFOIL_ISUER is unknown; the nearest known name is \
                    COUNTERFOIL_ISSUER
                    warning: the environment variable COUNTERFOIL_WEATHER_STATION is unknown; counterfoil-server config \
                    schema lists all settings

                    """)
        }
    }

    @Test func `the schema describes every setting with a type, and its defaults fit`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let printed = try await Self.run(["schema"], in: folder)
            // The option is accepted as by the other commands, and the file is not read.
            let named = try await Self.run(["schema", "--config", folder.path("none.yaml")], in: folder)
            #expect(named.status == 0 && named.output == printed.output)
            let schema = try #require(
                try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any])
            #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
            #expect(schema["additionalProperties"] as? Bool == false)
            let properties = try #require(schema["properties"] as? [String: [String: Any]])
            for (name, property) in properties {
                #expect((property["description"] as? String)?.isEmpty == false, "\(name)")
                #expect(property["type"] != nil || property["enum"] != nil || property["anyOf"] != nil, "\(name)")
                if let values = property["enum"] as? [String], let standard = property["default"] as? String {
                    #expect(values.contains(standard), "\(name)")
                }
            }
            #expect(properties["connections"]?["type"] as? String == "integer")
            #expect(properties["connections"]?["default"] as? Int == 10_000)
            #expect(properties["require-dpop-nonce"]?["type"] as? String == "boolean")
            #expect(properties["log-format"]?["enum"] as? [String] == ["text", "json"])
            #expect(properties["trusted-proxy"]?["anyOf"] != nil)
            for name in ["config", "help", "version", "site-name", "unregistered-clients", "server-key"] {
                #expect(properties[name] == nil, "\(name)")
            }
            // Every setting that `config show` knows is in the schema.
            let shown = try await Self.run(
                ["show", "--json", "--issuer", "http://127.0.0.1:1", "--listen", "127.0.0.1:1", "--data-dir", "data"],
                in: folder)
            let rows = try JSONDecoder().decode([Row].self, from: Data(shown.output.utf8))
            #expect(Set(rows.map(\.name)) == Set(properties.keys).union(["server-key"]))
        }
    }

    // A package installs this file.
    @Test func `the packaged file explains every setting, and each of its defaults is valid`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let packaged = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../Packaging/server.yaml").standardizedFileURL
            let text = try String(contentsOf: packaged, encoding: .utf8)
            let printed = try await Self.run(["example"], in: folder)
            #expect(printed.output == text, "run: counterfoil-server config example > Packaging/server.yaml")

            // A comment at the start of a line with a value is a setting, of which these exclude others.
            let excluded = [
                "acme-", "database", "endings-journal", "server-key-file", "tls-", "redirect-listen", "outbound-ca",
            ]
            let lines = text.split(separator: "\n").filter { line in
                line.contains(/^#( {2}- |[a-z])/) && !excluded.contains { line.hasPrefix("#\($0)") }
            }
            let path = folder.path("server.yaml")
            try Data(lines.map { $0.dropFirst() + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path))
            let ended = try await Self.run(["check", "--config", path], in: folder)
            #expect(ended.status == 0, "\(ended.errors)")
        }
    }

    @Test func `the server key can be a credential of systemd`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let key = folder.path("server-key")
            let environment = ["CREDENTIALS_DIRECTORY": folder.url.path, "COUNTERFOIL_DATA_DIR": folder.path("data")]
            try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: key))
            try FileManager.default.setAttributes([.posixPermissions: 0o440], ofItemAtPath: key)
            let create = ["scope", "create", "photos.read", "--description", "See your photos"]
            let created = try await RunningProgram(.server, create, environment: environment, in: folder).ended()
            #expect(created.status == 0, "\(created.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.path("data/server.key")))
            try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: key)
            let refused = try await RunningProgram(.server, ["scope", "list"], environment: environment, in: folder)
                .ended()
            #expect(refused.status == 3)
            #expect(refused.errors.contains("other users can access the server key"))
        }
    }
}
