@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The settings file of a running server, which is read again on SIGHUP.
@Suite(.timeLimit(.minutes(10)))
struct SettingsReloadTests {
    /// A settings file that a test changes.
    private struct File {
        let path: String

        init(in folder: TemporaryDirectory, _ lines: String...) throws {
            path = folder.path("server.yaml")
            try write(lines)
        }

        func write(_ lines: [String]) throws {
            try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
    }

    /// Requests on one connection, one after the other, until the end.
    private final class Load: Sendable {
        private let isOver = Mutex(false)

        func end() { isOver.withLock { $0 = true } }

        /// Returns the number of answers; throws if one is missing or has another status than 200.
        func send(to port: Int) async throws -> Int {
            try await RawConnection.run(port: port) { connection in
                var count = 0
                while !self.isOver.withLock({ $0 }) {
                    let path = count.isMultiple(of: 2) ? "/livez" : "/readyz"
                    try await connection.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                    let answer = try await connection.take(until: "\"}")
                    guard answer.hasPrefix("HTTP/1.1 200"), answer.hasSuffix("\"}") else {
                        throw Site.Refused(description: "the answer after \(count) others: \(answer)")
                    }
                    count += 1
                }
                return count
            }
        }
    }

    private static func events(_ message: String, in program: RunningProgram) throws -> [[String: String]] {
        try program.logEvents.filter { $0["message"] == message }
    }

    /// Sends SIGHUP and waits for the `number`th event with a message.
    private static func reload(
        _ server: RunningProgram, until message: String, number: Int = 1
    ) async throws -> [String: String] {
        try server.signal("HUP")
        return try await server.said(message) { program in
            let events = try events(message, in: program)
            return events.count >= number ? events[number - 1] : nil
        }
    }

    private static let success = "read the settings again"
    private static let failure = "refused the new settings; the former ones stay in use"

    /// Returns the lifetime of a device code in seconds.
    private static func deviceCodeLifetime(
        of client: String, at site: Site, in browser: inout UserAgent
    ) async throws -> Int? {
        let form = FormParameters(["client_id": client, "scope": "openid"])
        let answer = try await browser.send(.post, site.issuer + "/oauth2/device_authorization", form: form)
        let members = try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
        return members?["expires_in"] as? Int
    }

    private static func deviceClient(at site: Site) async throws -> String {
        let created = try await site.administer([
            "app", "create", "--type", "device", "--name", "Frame", "--scope", "openid", "--json",
        ])
        let members = try JSONSerialization.jsonObject(with: Data(created.output.utf8)) as? [String: Any]
        return try #require(members?["client_id"] as? String)
    }

    @Test func `a reload changes lifetimes and the log level, and names what needs a restart`() async throws {
        try await Site.make { site in
            let client = try await Self.deviceClient(at: site)
            let file = try File(in: site.folder, "log-format: json", "device-code-lifetime: 5m", "listen: 127.0.0.1:1")
            // The options of the site go before the file.
            let server = try await site.start(options: ["--config", file.path])
            try await server.whileRunning {
                var browser = UserAgent()
                #expect(try await Self.deviceCodeLifetime(of: client, at: site, in: &browser) == 300)
                #expect(try Self.events("answered", in: server).isEmpty)

                try file.write([
                    "log-format: text", "device-code-lifetime: 2m", "listen: 127.0.0.1:1", "log-level: info",
                    "require-pushed-requests: true",
                ])
                let event = try await Self.reload(server, until: Self.success)
                #expect(event["changed"] == "require-pushed-requests, device-code-lifetime, log-level")
                let waiting = try await server.said("what needs a restart") { program in
                    try Self.events("settings have changed that need a restart", in: program).first
                }
                #expect(waiting["settings"] == "log-format")
                #expect(try await Self.deviceCodeLifetime(of: client, at: site, in: &browser) == 120)
                let metadata = try await browser.send(.get, site.issuer + "/.well-known/oauth-authorization-server")
                #expect(metadata.body.contains(#""require_pushed_authorization_requests":true"#))
                _ = try await server.said("an answer at the new log level") { program in
                    try Self.events("answered", in: program).first
                }
            }
        }
    }

    // RFC 6797 §6.1.1: with max-age=0, browsers forget the host.
    @Test func `an owner changes and withdraws Strict-Transport-Security by a reload`() async throws {
        try await Site.make { site in
            let file = try File(in: site.folder, "log-format: json", "hsts-max-age: 600")
            let server = try await site.start(issuer: "https://id.example.com", options: ["--config", file.path])
            try await server.whileRunning {
                var browser = UserAgent()
                func field() async throws -> String? {
                    try await browser.send(.get, site.origin + "/livez").header("strict-transport-security")
                }
                #expect(try await field() == "max-age=600")
                try file.write(["log-format: json", "hsts-max-age: 0"])
                #expect(try await Self.reload(server, until: Self.success)["changed"] == "hsts-max-age")
                #expect(try await field() == "max-age=0")
            }
        }
    }

    @Test func `settings with a mistake change nothing, and count in the metrics`() async throws {
        try await Site.make { site in
            let client = try await Self.deviceClient(at: site)
            let file = try File(in: site.folder, "log-format: json", "device-code-lifetime: 5m")
            let server = try await site.start(options: ["--config", file.path, "--metrics-listen", "127.0.0.1:0"])
            try await server.whileRunning {
                var browser = UserAgent()
                for (number, mistake) in ["code-lifetime: 1y", "no-such-setting: 1"].enumerated() {
                    try file.write(["log-format: json", "device-code-lifetime: 2m", mistake])
                    let event = try await Self.reload(server, until: Self.failure, number: number + 1)
                    #expect(event["error"]?.contains("server.yaml, line 3: ") == true)
                    #expect(try await Self.deviceCodeLifetime(of: client, at: site, in: &browser) == 300)
                }
                let url = try #require(try Self.events("started the metrics server", in: server).first?["url"])
                let metrics = try await browser.send(.get, url)
                #expect(metrics.body.contains("\ncounterfoil_settings_failures_total 2\n"))

                try file.write(["log-format: json", "device-code-lifetime: 2m"])
                let event = try await Self.reload(server, until: Self.success)
                #expect(event["changed"] == "device-code-lifetime")
                #expect(try await Self.deviceCodeLifetime(of: client, at: site, in: &browser) == 120)
            }
        }
    }

    @Test func `a reload that cannot store the settings for commands changes nothing`() async throws {
        try await Site.make { site in
            let client = try await Self.deviceClient(at: site)
            let file = try File(in: site.folder, "log-format: json", "device-code-lifetime: 5m")
            let server = try await site.start(options: ["--config", file.path])
            try await server.whileRunning {
                var browser = UserAgent()
                // No file replaces a directory.
                let noted = site.dataDirectory + "/last-settings.json"
                let former = try Data(contentsOf: URL(fileURLWithPath: noted))
                try FileManager.default.moveItem(atPath: noted, toPath: site.folder.path("former"))
                try FileManager.default.createDirectory(
                    atPath: noted + "/full", withIntermediateDirectories: true)
                try file.write([
                    "log-format: json", "device-code-lifetime: 2m", "connections: 500", "plain-scheme:", "  - zed",
                ])
                _ = try await Self.reload(server, until: Self.failure)
                #expect(try await Self.deviceCodeLifetime(of: client, at: site, in: &browser) == 300)

                try FileManager.default.removeItem(atPath: noted)
                _ = try await Self.reload(server, until: Self.success)
                #expect(try await Self.deviceCodeLifetime(of: client, at: site, in: &browser) == 120)
                let texts = try JSONDecoder().decode(
                    [String: String].self, from: try Data(contentsOf: URL(fileURLWithPath: noted)))
                #expect(texts["connections"] == "500")
                #expect(texts["plain-schemes"]?.contains("zed") == true)
                #expect(try Data(contentsOf: URL(fileURLWithPath: noted)) != former)
            }
        }
    }

    @Test func `100 reloads under load lose no request and no connection`() async throws {
        try await Site.make { site in
            let file = try File(in: site.folder, "log-format: json")
            let server = try await site.start(options: ["--config", file.path])
            try await server.whileRunning {
                let load = Load()
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<2 { group.addTask { try await load.send(to: site.port) } }
                    for number in 1...100 {
                        try file.write(["log-format: json", "code-lifetime: \(10 + number)s"])
                        _ = try await Self.reload(server, until: Self.success, number: number)
                    }
                    load.end()
                    for try await count in group { #expect(count > 100) }
                }
                #expect(try Self.events(Self.failure, in: server).isEmpty)
            }
        }
    }
}
