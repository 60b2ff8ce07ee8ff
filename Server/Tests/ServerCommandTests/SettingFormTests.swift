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
        let sources = try SettingSources(
            naming: nil, environment: required.merging(variables) { _, given in given })
        do { _ = try ServeConfiguration([:], sources) } catch { return error.message }
        return nil
    }

    /// Returns the error message for a setting in the environment; nil if it is valid.
    private static func message(_ value: String, for name: String) throws -> String? {
        try message([Settings.variable(of: name): value])
    }

    /// The forms of numbers and times, as error messages name them.
    private static let forms = [
        "access-token-lifetime": "a time from 1m to 1d, a number with s, m, h, d or w",
        "applications-per-developer": "a number from 1 to 1000000",
        "approvals-per-user": "a number from 1 to 1000000",
        "audit-retention": "a number of days from 1 to 36500, such as 90, 90d or 12w, or forever",
        "code-lifetime": "a time from 10s to 10m, a number with s, m, h, d or w",
        "connections": "a number from 16 to 1000000",
        "database-connections": "a number from 1 to 200",
        "device-code-lifetime": "a time from 1m to 30m, a number with s, m, h, d or w",
        "drain-delay": "a time from 0s to 10m, a number with s, m, h, d or w",
        "failures-per-person": "a number from 1 to 1000000",
        "failures-per-source": "a number from 1 to 1000000",
        "hsts-max-age": "a time from 0s to 3650d, a number with s, m, h, d or w",
        "id-token-lifetime": "a time from 1m to 1d, a number with s, m, h, d or w",
        "key-lifetime": "a number of days from 1 to 3650, such as 90, 90d or 12w",
        "page-lifetime": "a time from 5m to 1d, a number with s, m, h, d or w",
        "pushed-request-lifetime": "a time from 10s to 10m, a number with s, m, h, d or w",
        "recent-sign-in": "a time from 1m to 1d, a number with s, m, h, d or w",
        "refresh-idle-lifetime": "a time from 10m to 365d, a number with s, m, h, d or w",
        "refresh-lifetime": "a time from 10m to 730d, a number with s, m, h, d or w",
        "registrations-per-hour": "a number from 2 to 1000000",
        "registrations-per-source": "a number from 1 to 1000000",
        "second-factor-memory": "a number of days from 0 to 365, such as 90, 90d or 12w",
        "session-idle-lifetime": "a time from 5m to 30d, a number with s, m, h, d or w",
        "session-lifetime": "a time from 10m to 365d, a number with s, m, h, d or w",
        "sign-in-delay-from": "a number from 1 to 1000000",
        "sign-in-window": "a time from 1m to 1d, a number with s, m, h, d or w",
        "stop-timeout": "a time from 1s to 1h, a number with s, m, h, d or w",
    ]

    @Test(arguments: forms)
    func `a number or a time out of range is refused with the form and the range`(name: String, form: String) throws {
        #expect(try Self.message("9999999999", for: name) == "\(Settings.variable(of: name)) must be \(form).")
    }

    @Test(arguments: [
        ("session-lifetime", "14 days"), ("code-lifetime", "1y"), ("stop-timeout", "-1"), ("connections", "many"),
        ("database-connections", "1.5"), ("key-lifetime", "36h"), ("audit-retention", "99999999999999999999"),
    ])
    func `a number or a time in another form is refused in the same way`(name: String, value: String) throws {
        let form = try #require(Self.forms[name])
        #expect(try Self.message(value, for: name) == "\(Settings.variable(of: name)) must be \(form).")
    }

    @Test func `each default is a value that the setting accepts`() throws {
        for setting in Settings.options where setting.kind != .list {
            guard let text = setting.standardTexts.first else { continue }
            #expect(throws: Never.self, "\(setting.name): \(text)") { try setting.value(of: [text]) }
        }
    }

    /// A wrong value of each other setting, with the words that say what is right.
    private static let wrong = [
        ("acme-challenge", "dns-01", "tls-alpn-01"), ("acme-directory", "acme.example.com", "must be an https URL"),
        ("callback-origin", "apps.example.com", "https"), ("cors-header", "a b", "such as X-Request-Id"),
        ("endpoint-alias", "token", "token=/connect/token"), ("issuer", "id.example.com", "https"),
        ("listen", "8080", "HOST:PORT, such as 127.0.0.1:8080"), ("log-format", "xml", "json"),
        ("log-level", "loud", "one of error, notice, info, debug"),
        ("mail-program", "sendmail", "an absolute path"), ("mail-sender", "id", "such as id@example.com"),
        ("mail-server", "mail.example.com", "smtps://HOST:PORT"), ("mail-tls", "no", "one of required, never"),
        ("metrics-listen", "9090", "HOST:PORT, such as 127.0.0.1:8080"),
        ("outbound-network", "10.20.0.0/99", "10."), ("plain-scheme", "Cursor", "2 to 64 lowercase letters"),
        ("redirect-listen", "80", "HOST:PORT"), ("registration", "nobody", "administrators"),
        ("new-apps", "approved", "one of open, development, pending"),
        ("second-factor", "required", "one of off, offered, administrators, everyone"),
        ("session-persistence", "always", "one of never, offered, ticked"),
        ("sign-up", "everyone", "one of closed, invited, open"), ("terms-uri", "http://example.com", "an https URL"),
        ("terms-version", "May 2031", "without spaces"),
        ("external-sign-in", "http://shop.example.com/login", "an https URL"),
        ("external-sign-in", "https://shop.example.com/login#here", "without a fragment"),
        ("external-sign-in-users", "everyone", "one of create, known"),
        ("external-sign-in-name", "\u{200B}", "a visible character"), ("external-sign-in-keys", "", "cannot be empty"),
        ("trusted-proxy", "proxy", "an address or a network, such as 127.0.0.1 or 10.0.0.0/8"),
        ("acme-contact", "owner", "owner@example.com"), ("require-dpop-nonce", "yes", "true or false"),
        ("tls-key", "", "cannot be empty"), ("data-dir", "", "cannot be empty"),
    ]

    @Test(arguments: wrong)
    func `a wrong value is refused with the form of a right one`(name: String, value: String, words: String) throws {
        var variables = [Settings.variable(of: name): value]
        if name.hasPrefix("acme-"), name != "acme-contact" { variables["COUNTERFOIL_ACME_CONTACT"] = "a@example.com" }
        if name.hasPrefix("acme-") { variables["COUNTERFOIL_ACME_TERMS_AGREED"] = "true" }
        let message = try #require(try Self.message(variables))
        #expect(message.contains(words), "\(message)")
        #expect(message.contains(Settings.variable(of: name)), "\(message)")
    }

    @Test(arguments: [
        ("90", 90), ("90d", 90), ("12w", 84), ("48h", 2), ("36h", nil), ("90s", nil), ("-1", nil), ("d", nil),
    ])
    func `a number of days can have a unit, and without one it is in days`(value: String, days: Int?) {
        #expect((try? Settings.keyLifetime.form.read([value])) == days)
        #expect((try? Settings.auditRetention.form.read([value])) == days)
    }

    @Test func `a time can be in weeks, and an option has the same message as a setting`() async throws {
        #expect(Seconds("2w")?.value == 14 * 86_400)
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

    @Test func `audit log events can be kept forever`() throws {
        let sources = try SettingSources(
            naming: nil, environment: Self.required.merging(["COUNTERFOIL_AUDIT_RETENTION": "forever"]) { $1 })
        #expect(try ServeConfiguration([:], sources)[Settings.auditRetention] == nil)
        #expect(Settings.auditRetention.standard == 400)
    }

    @Test func `a trusted proxy that is the network of all clients is refused`() throws {
        let message = try Self.message("0.0.0.0/0", for: "trusted-proxy")
        #expect(message?.hasPrefix("COUNTERFOIL_TRUSTED_PROXY: 0.0.0.0/0 includes clients, which could") == true)
    }
}
