import Foundation
import TestSupport
import Testing

@testable import counterfoil_server

/// The values that a setting can have, and the error messages for others.
@Suite(.timeLimit(.minutes(10)))
struct SettingFormTests {
    private static let required = [
        "COUNTERFOIL_ISSUER": "https://id.example.com", "COUNTERFOIL_LISTEN": "127.0.0.1:8080",
    ]

    /// Returns the error message for settings in the environment; nil if they are valid.
    private static func message(_ variables: [String: String]) throws -> String? {
        let invocation = CommandInvocation(
            ["config", "check"], environment: required.merging(variables) { _, given in given }, user: "ada")
        let settings = try invocation.resolve()
        do { _ = try invocation.command(with: settings) } catch { return settings.explanation(of: error)?.text }
        return nil
    }

    /// Returns the error message for a setting in the environment; nil if it is valid.
    private static func message(_ value: String, for setting: Setting) throws -> String? {
        try message([setting.variable: value])
    }

    @Test(arguments: SettingForm.all.keys.sorted())
    func `a number or a time out of range is refused with the form and the range`(name: String) throws {
        let (setting, form) = (try #require(Setting.named[name]), try #require(SettingForm.all[name]))
        #expect(try Self.message("9999999999", for: setting) == "\(setting.variable) must be \(form).")
    }

    @Test(arguments: [
        ("session-lifetime", "14 days"), ("code-lifetime", "1y"), ("stop-timeout", "-1"), ("connections", "many"),
        ("database-connections", "1.5"), ("key-lifetime", "36h"), ("audit-retention", "99999999999999999999"),
    ])
    func `a number or a time in another form is refused in the same way`(name: String, value: String) throws {
        let (setting, form) = (try #require(Setting.named[name]), try #require(SettingForm.all[name]))
        #expect(try Self.message(value, for: setting) == "\(setting.variable) must be \(form).")
    }

    @Test func `the defaults are in range`() throws {
        let numbers = Setting.all.filter { SettingForm.all[$0.name] != nil }
        let variables = numbers.map { ($0.variable, $0.defaultValue ?? "") }
        #expect(try Self.message(Dictionary(uniqueKeysWithValues: variables)) == nil)
    }

    @Test func `every number and every time has a form`() {
        let numbers = Setting.all.filter { $0.isNumber || $0.valueName == "time" || $0.valueName == "days" }
        #expect(Set(numbers.map(\.name)) == Set(SettingForm.all.keys))
    }

    /// A wrong value of each other setting, with the words that say what is right.
    private static let wrong = [
        ("acme-challenge", "dns-01", "tls-alpn-01"), ("acme-directory", "acme.example.com", "must be an https URL"),
        ("callback-origin", "apps.example.com", "https"), ("cors-header", "a b", "such as X-Request-Id"),
        ("endpoint-alias", "token", "token=/connect/token"), ("issuer", "id.example.com", "https"),
        ("listen", "8080", "HOST:PORT, such as 127.0.0.1:8080"), ("log-format", "xml", "json"),
        ("log-level", "loud", "error, notice, info or debug"),
        ("metrics-listen", "9090", "HOST:PORT, such as 127.0.0.1:8080"),
        ("outbound-network", "10.20.0.0/99", "10."), ("plain-scheme", "Cursor", "2 to 64 lowercase letters"),
        ("redirect-listen", "80", "HOST:PORT"), ("registration", "nobody", "administrators"),
        ("trusted-proxy", "proxy", "an address or a network, such as 127.0.0.1 or 10.0.0.0/8"),
        ("acme-contact", "owner", "owner@example.com"),
    ]

    @Test(arguments: wrong)
    func `a wrong value is refused with the form of a right one`(name: String, value: String, words: String) throws {
        var variables = [Setting.variable(of: name): value]
        if name.hasPrefix("acme-"), name != "acme-contact" { variables["COUNTERFOIL_ACME_CONTACT"] = "a@example.com" }
        if name.hasPrefix("acme-") { variables["COUNTERFOIL_ACME_TERMS_AGREED"] = "true" }
        let message = try #require(try Self.message(variables))
        #expect(message.contains(words), "\(message)")
        #expect(message.contains(Setting.variable(of: name)), "\(message)")
    }

    @Test(arguments: [
        ("90", 90), ("90d", 90), ("12w", 84), ("48h", 2), ("36h", nil), ("90s", nil), ("-1", nil), ("d", nil),
    ])
    func `a number of days can have a unit, and without one it is in days`(value: String, days: Int?) {
        #expect(Days(argument: value)?.value == days)
        #expect(AuditRetention(argument: value)?.days == days)
    }

    @Test func `a time can be in weeks, and an option has the same message as a setting`() async throws {
        #expect(Seconds(argument: "2w")?.value == 14 * 86_400)
        #expect("\(Seconds(14 * 86_400))" == "14d")
        try await TemporaryDirectory.forPrograms { folder in
            let ended = try await RunningProgram(
                .server, ["config", "check", "--session-lifetime", "14 days"], environment: Self.required, in: folder
            ).ended()
            #expect(ended.status == 64)
            #expect(
                ended.errors
                    == "Error: --session-lifetime must be a time from 10m to 365d, a number with s, m, h, d or w.\n")
        }
    }

    // SEC-640
    @Test func `a trusted proxy that is the network of all clients is refused`() throws {
        let message = try Self.message("0.0.0.0/0", for: #require(Setting.named["trusted-proxy"]))
        #expect(message?.hasPrefix("COUNTERFOIL_TRUSTED_PROXY: 0.0.0.0/0 includes clients, which could") == true)
    }
}
