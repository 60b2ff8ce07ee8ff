import Foundation
import Testing

@testable import ACMEClient

@Suite("ACME: the time of a renewal")
struct RenewalTests {
    private static let day = 86_400.0
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    // RFC 9773 §4.1, the example
    @Test func `the identifier of a certificate is that of the standard`() {
        let key: [UInt8] = [
            0x69, 0x88, 0x5B, 0x6B, 0x87, 0x46, 0x40, 0x41, 0xE1, 0xB3, 0x7B, 0x84, 0x7B, 0xA0, 0xAE, 0x2C, 0xDE, 0x01,
            0xC8, 0xD4,
        ]
        #expect(
            CertificateIdentity.identifier(ofKey: key, serialNumber: [0x87, 0x65, 0x43, 0x21] as [UInt8])
                == "aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE")
        #expect(
            CertificateIdentity.identifier(ofKey: key, serialNumber: [0x00, 0x87, 0x65, 0x43, 0x21] as [UInt8])
                == "aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE")
    }

    @Test(
        arguments: [
            (90.0, 0.0, 60.0), (90, 1, 57.3), (6, 0, 3), (6, 1, 2.82), (365, 0, 365.0 * 2 / 3),
        ] as [(Double, Double, Double)])
    func `a certificate is renewed after two thirds of its lifetime, a short one after half`(
        lifetime: Double, draw: Double, days: Double
    ) {
        let time = RenewalTime.of(
            validity: Self.start...(Self.start + lifetime * Self.day), information: nil, draw: draw)
        #expect(abs(time.timeIntervalSince(Self.start) - days * Self.day) < 1)
    }

    // RFC 9773 §4.2
    @Test(
        arguments: [(10.0, 12.0, 0.5, 11.0), (-3, -2, 0.5, -2.5), (89, 200, 0.5, 90), (91, 92, 0.5, 58.65)]
            as [(Double, Double, Double, Double)])
    func `renewal information goes before, unless it is later than the end`(
        from: Double, to: Double, draw: Double, days: Double
    ) throws {
        func text(_ days: Double) -> String { (Self.start + days * Self.day).ISO8601Format() }
        let information = try #require(
            RenewalInformation(
                Array(#"{"suggestedWindow":{"start":"\#(text(from))","end":"\#(text(to))"}}"#.utf8)))
        let time = RenewalTime.of(
            validity: Self.start...(Self.start + 90 * Self.day), information: information, draw: draw)
        #expect(abs(time.timeIntervalSince(Self.start) - days * Self.day) < 1)
    }

    // RFC 9773 §4.3
    @Test(arguments: [(nil, 21_600), (1, 60), (7200, 7200), (1e9, 86_400)] as [(Double?, Double)])
    func `renewal information is read again within a day, and not more than once a minute`(
        asked: Double?, pause: Double
    ) {
        #expect(RenewalTime.nextLook(retryAfter: asked) == pause)
    }

    @Test(arguments: [(90 * 86_400.0, 3600.0), (20, 5)])
    func `a certificate stays for an hour or a quarter of its lifetime`(lifetime: Double, seconds: Double) {
        let validity = Self.start...(Self.start + lifetime)
        #expect(RenewalTime.earliest(after: Self.start + 7, validity: validity) == Self.start + 7 + seconds)
    }

    @Test(arguments: [
        ("id.example.com", true), ("localhost", true), ("127.0.0.1", false), ("[::1]", false), ("a..b", false),
        ("", false), ("a_b.example", false), ("1.example", true),
    ])
    func `a certificate can name host names, and no addresses`(host: String, isPossible: Bool) {
        #expect(ACMESettings.canName(host) == isPossible)
    }
}
