import CounterfoilProtocol
import Foundation
import HTTPTypes
import PostgreSQLTesting
import TestSupport
import Testing

/// Two servers on one database whose settings differ.
@Suite(.timeLimit(.minutes(10)))
struct SettingsComparisonTests {
    private static let began = "the servers on the database have different settings"
    private static let ended = "the servers on the database have the same settings again"

    private static func event(_ message: String, of server: RunningProgram) async throws -> [String: String] {
        try await server.said(message) { program in try program.logEvents.first { $0["message"] == message } }
    }

    /// Returns the number of settings that differ, by the metrics of a server.
    private static func metric(of server: RunningProgram) async throws -> String? {
        let url = try #require(try server.logEvents.first { $0["message"] == "started the metrics server" }?["url"])
        var browser = UserAgent()
        return try await browser.send(.get, url).body.firstMatch(of: /\ncounterfoil_settings_differ (\d+)\n/)
            .map { String($0.output.1) }
    }

    @Test func `servers with different settings say so in the log, the metrics and doctor, until they agree`()
        async throws
    {
        let store = try await StoreOfSite.store(in: PostgreSQLServer.shared.value)
        try await Site.make(on: store) { first in
            try await Site.make(on: store) { second in
                let options = ["--log-format", "json", "--metrics-listen", "127.0.0.1:0"]
                let one = try await first.start(options: options)
                let other = try await second.start(
                    issuer: first.issuer, options: options + ["--access-token-lifetime", "5m"])

                let event = try await Self.event(Self.began, of: other)
                #expect(event["level"] == "notice")
                #expect(event["settings"] == "access-token-lifetime")
                let values = try #require(event["values"])
                #expect(values.contains("5m at ") && values.contains("1h at ") && values.contains("(process "))
                #expect(try await Self.metric(of: other) == "1")
                // A server compares again every half a minute, and after SIGHUP.
                try one.signal("HUP")
                #expect(try await Self.event(Self.began, of: one)["settings"] == "access-token-lifetime")
                #expect(try await Self.metric(of: one) == "1")

                let doctor = try await first.administer(["doctor"])
                #expect(doctor.status == 1)
                #expect(
                    doctor.output.contains(
                        "FAULT  the servers on the database have different values of access-token-lifetime: "))

                await other.stop()
                try one.signal("HUP")
                _ = try await Self.event(Self.ended, of: one)
                #expect(try await Self.metric(of: one) == "0")
                let agreed = try await first.administer(["doctor"])
                #expect(agreed.output.contains("ok     the servers on the database have the same settings: "))
                await one.stop()
            }
        }
    }
}
