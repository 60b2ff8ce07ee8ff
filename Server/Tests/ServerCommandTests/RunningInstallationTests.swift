import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import CounterfoilWeb
import Foundation
import Logging
import TestSupport
import Testing

@testable import counterfoil_server

/// The report of a running server on itself for the pages of the administration.
struct RunningInstallationTests {
    private static let secret = Base64URL.encode([UInt8](repeating: 7, count: 32))

    private static func configuration(_ file: String) throws -> ServeConfiguration {
        try ServeConfiguration(
            ["connections": ["500"]],
            SettingSources(naming: file, environment: ["COUNTERFOIL_LISTEN": "127.0.0.1:8080"]))
    }

    private static func opening(_ configuration: ServeConfiguration, _ reload: SettingsReload) throws -> ServerOpening {
        ServerOpening(
            storeLocation: try configuration.values.storeLocation, settings: configuration.settings,
            recorded: SharedValue(configuration.recorded), acme: nil, ordered: nil, certificate: nil, reload: reload,
            outbound: .standard, mail: nil, journalName: "endings-journal", logger: Logger(label: "test"))
    }

    private static func request() -> RequestContext {
        RequestContext(id: "request", source: "192.0.2.1", deadline: .now + RequestContext.timeLimit)
    }

    // SEC-889
    @Test func `a server judges itself, and reports its settings with their places and without secrets`()
        async throws
    {
        try await TemporaryDirectory.forPrograms { folder in
            let (data, file) = (folder.path("data"), folder.path("server.yaml"))
            func write(_ lifetime: String) throws {
                let text = """
                    issuer: http://127.0.0.1:8080
                    data-dir: \(data)
                    code-lifetime: \(lifetime)
                    listen: 127.0.0.1:1

                    """
                try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            }
            try write("90s")
            let reload = SettingsReload(try Self.configuration(file)) { () throws(CommandFailure) in
                do { return try Self.configuration(file) } catch { throw .refused("\(error)") }
            }
            let opened = try await DataDirectory(at: data)
            let installation = opened.installation
            let server = RunningInstallation(
                try Self.opening(try Self.configuration(file), reload), on: installation,
                environment: [ServerKey.variable: Self.secret])

            let state = try await server.state(for: Self.request())
            #expect(state.software.hasPrefix("SQLite ") && state.place == data && state.backup == .never)
            #expect(state.size > 0 && state.servers.isEmpty && state.certificate == nil)
            let findings = await server.findings(for: Self.request())
            #expect(Set(findings.map(\.topic)).isSuperset(of: ["store", "store-version", "disk", "backup-missing"]))
            #expect(findings.allSatisfy { ($0.mend == nil) == ($0.weight == .sound) })

            let groups = server.settings
            #expect(Set(groups.map(\.title)).count == groups.count)
            let settings = groups.flatMap(\.settings)
            #expect(Set(settings.map(\.name)) == Set(Settings.all.map(\.name) + ["server-key"]))
            func setting(_ name: String) throws -> ReportedSetting {
                try #require(settings.first { $0.name == name })
            }
            #expect(try setting("issuer").origin == .file(path: file, line: 1))
            #expect(try setting("listen").origin == .variable("COUNTERFOIL_LISTEN"))
            let connections = ReportedSetting(name: "connections", value: .one("500"), origin: .option)
            #expect(try setting("connections") == connections)
            #expect(try setting("session-lifetime").origin == .standard)
            #expect(try setting("server-key").value == .secret)
            #expect(!"\(groups)".contains(Self.secret))

            let stranger = UserIdentifier(random: RandomBytes())
            #expect(try await server.export(of: stranger, for: Self.request()) == .notFound)

            // A value that was read and is not in use.
            try write("80s")
            _ = try reload.read()
            let waiting = server.settings.flatMap(\.settings).filter(\.waitsForRestart)
            #expect(waiting.map(\.name) == ["code-lifetime"] && waiting.first?.value == .one("90s"))
            await installation.store.close()
        }
    }
}
