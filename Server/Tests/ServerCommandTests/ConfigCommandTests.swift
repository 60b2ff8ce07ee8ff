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
                "Error: COUNTERFOIL_REQUIRE_DPOP_NONCE must be true or false.", 64
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

    /// Returns the properties in the printed JSON Schema.
    private static func properties(in folder: TemporaryDirectory) async throws -> [String: [String: Any]] {
        let printed = try await run(["schema"], in: folder)
        // The option is accepted as by the other commands, and the file is not read.
        let named = try await run(["schema", "--config", folder.path("none.yaml")], in: folder)
        #expect(named.status == 0 && named.output == printed.output)
        let schema = try #require(try JSONSerialization.jsonObject(with: Data(printed.output.utf8)) as? [String: Any])
        #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        #expect(schema["additionalProperties"] as? Bool == false)
        return try #require(schema["properties"] as? [String: [String: Any]])
    }

    @Test func `the schema describes every setting that config show knows, and its defaults fit`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let properties = try await Self.properties(in: folder)
            for (name, property) in properties {
                #expect((property["description"] as? String)?.isEmpty == false, "\(name)")
                if let standard = property["default"] {
                    #expect(JSONSchema(property).accepts(standard), "\(name): \(standard)")
                }
                for wrong in [["a": "b"], NSNull()] as [Any] {
                    #expect(!JSONSchema(property).accepts(wrong), "\(name): \(wrong)")
                }
            }
            #expect(properties["connections"]?["default"] as? Int == 10_000)
            #expect(properties["code-lifetime"]?["default"] as? String == "1m")
            let shown = try await Self.run(
                ["show", "--json", "--issuer", "http://127.0.0.1:1", "--listen", "127.0.0.1:1", "--data-dir", "data"],
                in: folder)
            let rows = try JSONDecoder().decode([Row].self, from: Data(shown.output.utf8))
            #expect(Set(rows.map(\.name)) == Set(properties.keys).union(["server-key"]))
        }
    }

    /// Values of settings as YAML reads them, which the schema accepts, and others that it refuses.
    private static let typed: [(setting: String, right: [any Sendable], wrong: [any Sendable])] = [
        ("issuer", ["https://id.example.com", "http://127.0.0.1:8080"], [5, true, "id.example.com", [String]()]),
        ("database", ["postgresql://counterfoil@h/n"], [5, "counterfoil"]),
        ("tls-key", ["/etc/counterfoil/key.pem"], [5, true, "", ["/a"]]),
        ("acme-contact", ["owner@example.com"], [5, "owner"]),
        ("mail-server", ["smtps://mail.example.com:465", "smtp://[::1]"], ["mail.example.com", "smtp://a:b@c", 25]),
        (
            "listen", ["127.0.0.1:8080", ["[::1]:8080", "unix:/run/a.sock", "systemd", "systemd:http"]],
            [8080, "8080", ["8080"], [8080], "unix:a"]
        ),
        ("metrics-listen", ["127.0.0.1:9090"], [9090, "9090", ["127.0.0.1:9090"]]),
        ("code-lifetime", [60, "90s", "10m"], [0, 601, "1 minute", "1y", 1.5, true]),
        ("audit-retention", [400, "12w", "forever"], [0, 36_501, "never"]),
        ("key-lifetime", [90, "90d"], [0, "forever"]),
        ("connections", [16, 1_000_000], [15, 1_000_001, "500", 16.5, true]),
        ("require-dpop-nonce", [true, false], ["yes", "true", 1]),
        ("log-level", ["error", "debug"], ["loud", "trace", 1]),
        ("registration", ["administrators"], ["nobody"]),
        ("trusted-proxy", ["unix", "10.0.0.0/8", ["::1", "127.0.0.1"], [String]()], [10, ["proxy"], "proxy"]),
        ("plain-scheme", ["cursor", ["vscode"]], ["Cursor", ["a.b"]]),
        ("endpoint-alias", ["token=/connect/token"], ["token", "--issuer=/x"]),
    ]

    @Test func `the schema has the true type and the range of a setting`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let properties = try await Self.properties(in: folder)
            for (setting, right, wrong) in Self.typed {
                let schema = JSONSchema(try #require(properties[setting]))
                for value in right { #expect(schema.accepts(value), "\(setting): \(value)") }
                for value in wrong { #expect(!schema.accepts(value), "\(setting): \(value)") }
            }
            // A text or a number would accept everything.
            let loose = properties.filter { $0.value["type"] is [String] }.keys.sorted()
            #expect(loose.isEmpty, "\(loose)")
        }
    }

    // A package installs this file.
    @Test func `the packaged file explains every setting, and each of its defaults is valid`() async throws {
        try await TemporaryDirectory.forPrograms { folder in
            let text = try Repository.text("Server/Packaging/server.yaml")
            let printed = try await Self.run(["example"], in: folder)
            #expect(printed.output == text, "run: counterfoil-server config example > Server/Packaging/server.yaml")

            // A comment at the start of a line with a value is a setting, of which these exclude others.
            let excluded = [
                "acme-", "database", "endings-journal", "external-sign-in", "mail-", "server-key-file", "tls-",
                "redirect-listen", "outbound-ca",
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

/// The part of JSON Schema (draft 2020-12) that the schema of the settings file uses.
private struct JSONSchema {
    private let schema: [String: Any]

    init(_ schema: [String: Any]) { self.schema = schema }

    func accepts(_ value: Any) -> Bool {
        if let schemas = schema["anyOf"] as? [[String: Any]] {
            guard schemas.contains(where: { JSONSchema($0).accepts(value) }) else { return false }
        }
        if let values = schema["enum"] as? [String] {
            guard let text = value as? String, values.contains(text) else { return false }
        }
        guard let type = schema["type"] as? String else { return true }
        switch type {
        case "boolean": return value is Bool
        case "integer":
            guard let number = value as? Int else { return false }
            return number >= schema["minimum"] as? Int ?? .min && number <= schema["maximum"] as? Int ?? .max
        case "string":
            guard let text = value as? String else { return false }
            let pattern = (schema["pattern"] as? String).flatMap { try? Regex($0) }
            return text.count >= schema["minLength"] as? Int ?? 0 && pattern.map { text.contains($0) } ?? true
        case "array":
            guard let values = value as? [Any], let items = schema["items"] as? [String: Any] else { return false }
            return values.allSatisfy { JSONSchema(items).accepts($0) }
        default: return false
        }
    }
}
