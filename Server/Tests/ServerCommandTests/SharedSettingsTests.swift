import CounterfoilPostgreSQL
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

@testable import counterfoil_server

/// The settings that the servers on one database must have alike, and their comparison.
struct SharedSettingsTests {
    private static let key = ServerKey(bytes: [UInt8](repeating: 7, count: 32))

    private static func texts(_ change: (inout ServerSettings) -> Void = { _ in }) throws -> [String: String] {
        var settings = ServerSettings(issuer: try Issuer("https://id.example.com"))
        change(&settings)
        return SharedSettings(settings, serverKey: try #require(key)).texts
    }

    private static func server(_ host: String, _ settings: [String: String]) -> ServerOnDatabase {
        ServerOnDatabase(host: host, process: 9, settings: settings)
    }

    @Test func `servers share the settings that change answers, and not those of their machine`() throws {
        let shared = try Self.texts()
        #expect(shared["code-lifetime"] == "1m" && shared["audit-retention"] == "400")
        #expect(shared["require-dpop-nonce"] == "false" && shared["unregistered-clients"] == "policy")
        #expect(shared["session-persistence"] == "offered" && shared["second-factor"] == "offered")
        #expect(shared["second-factor-memory"] == "30")
        #expect(shared["sign-up"] == "closed" && shared["terms-uri"] == "" && shared["terms-version"] == "")
        #expect(shared["external-sign-in"] == "" && shared["external-sign-in-keys"] == "")
        let ofOneServer = Set(Settings.options.map(\.name)).subtracting(shared.keys)
        #expect(
            ofOneServer == [
                "acme-challenge", "acme-contact", "acme-directory", "acme-eab-key-file", "acme-eab-kid", "acme-root",
                "acme-terms-agreed", "connections", "data-dir", "database", "database-connections", "drain-delay",
                "endings-journal", "listen", "log-format", "log-level", "mail-credentials-file", "mail-program",
                "mail-sender", "mail-server", "mail-tls", "metrics-listen", "outbound-ca", "outbound-network",
                "redirect-listen", "server-key-file", "stop-timeout", "tls-certificate", "tls-key",
                "trusted-proxy",
            ])
    }

    @Test func `a difference names the setting, its values and the servers, the most common value first`() throws {
        let usual = try Self.texts()
        let other = try Self.texts { settings in
            settings.accessTokenLifetime = 300
            settings.requiresPushedRequests = true
        }
        let servers = [Self.server("a", usual), Self.server("b", other), Self.server("c", usual)]
        #expect(
            SettingDifference.all(among: servers).map(\.text) == [
                "access-token-lifetime: 1h at a (process 9), c (process 9); 5m at b (process 9)",
                "require-pushed-requests: false at a (process 9), c (process 9); true at b (process 9)",
            ])
        #expect(SettingDifference.all(among: [servers[0], servers[2]]) == [])
        #expect(SettingDifference.all(among: [servers[1]]) == [])
    }

    @Test func `a setting that a server of another version does not have is no difference`() throws {
        let usual = try Self.texts()
        let servers = [Self.server("a", usual), Self.server("b", usual.filter { $0.key != "code-lifetime" })]
        #expect(SettingDifference.all(among: servers) == [])
    }

    @Test func `the server key is compared by fingerprints, which do not contain it`() throws {
        let text = try #require(try Self.texts()[SharedSettings.serverKey])
        #expect(text.wholeMatch(of: /[0-9a-f]{8}/) != nil)
        let two = try #require(ServerKey(bytes: [UInt8](repeating: 8, count: 32) + [UInt8](repeating: 7, count: 32)))
        #expect(two.fingerprints.last == text && two.fingerprints.count == 2 && two.fingerprints.first != text)
    }

    @Test func `a difference is a notice at first, a warning after five minutes, and its end a notice`() throws {
        let (usual, other) = (try Self.texts(), try Self.texts { $0.codeLifetime = 30 })
        let differences = SettingDifference.all(among: [Self.server("a", usual), Self.server("b", other)])
        var watch = DifferenceWatch()
        let start = ContinuousClock.now
        #expect(watch.note([], at: start) == nil)
        #expect(watch.note(differences, at: start) == .differ)
        #expect(watch.note(differences, at: start + .seconds(299)) == nil)
        #expect(watch.note(differences, at: start + .seconds(300)) == .stillDiffer)
        #expect(watch.note(differences, at: start + .seconds(600)) == nil)
        #expect(watch.note([], at: start + .seconds(630)) == .agree)
        #expect(watch.note([], at: start + .seconds(660)) == nil)
        #expect(watch.note(differences, at: start + .seconds(690)) == .differ)
    }
}

/// The times at which server keys were used first, as a store notes them.
struct ServerKeyUsesTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func `the former key of a server that is alone was used until the start with the next one`() {
        var uses = ServerKeyUses("")
        uses.note(["a"], at: Self.start, isAlone: true)
        uses.note(["a", "b"], at: Self.start + 10, isAlone: true)
        #expect(uses.times == ["a": Self.start + 10])
        uses.note(["b", "a"], at: Self.start + 100, isAlone: true)
        uses.note(["b", "a"], at: Self.start + 200, isAlone: true)
        #expect(uses.times == ["a": Self.start + 99.999, "b": Self.start + 200])
        uses.note(["a", "b"], at: Self.start + 300, isAlone: true)
        #expect(uses.times == ["a": Self.start + 300, "b": Self.start + 299.999])
        #expect(ServerKeyUses(uses.text).text == uses.text)
    }

    @Test func `the former key of several servers was used until the last one noted it`() {
        var uses = ServerKeyUses(nil)
        uses.note(["a", "b"], at: Self.start)
        uses.note(["b", "a"], at: Self.start + 30)
        uses.note(["a", "b"], at: Self.start + 60)
        uses.note(["b", "a"], at: Self.start + 90)
        #expect(uses.times == ["a": Self.start + 60, "b": Self.start + 90])
    }

    @Test func `a former key of which nothing is known counts as used until the first note`() {
        var uses = ServerKeyUses("damaged\nlines of text")
        uses.note(["b", "a"], at: Self.start, isAlone: true)
        #expect(uses.times == ["a": Self.start - 0.001, "b": Self.start])
    }
}
