import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

@testable import CounterfoilWeb

@Suite("ACME: the times of orders")
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

    private static let settings = ArtefactDigest(ofOrderSettings: "a")

    @Test(
        arguments: [
            (OrderBackOff.Kind.passing, [60.0, 120, 240, 480, 960, 1920, 3600, 3600]),
            (.refused, [900, 1800, 3600, 7200, 14_400, 21_600, 21_600]),
            (.limited, [3600, 7200, 14_400, 28_800, 43_200]),
        ] as [(OrderBackOff.Kind, [Double])])
    func `the pause doubles with each failure, up to a limit`(kind: OrderBackOff.Kind, pauses: [Double]) {
        for draw in [0.0, 1] {
            var failed: FailedOrders?
            for pause in pauses {
                let next = OrderBackOff.next(
                    after: failed, kind: kind, retryAfter: nil, settings: Self.settings, authority: "a", at: Self.start,
                    draw: draw)
                #expect(next.retryAt == Self.start + pause * (1 + draw / 4))
                failed = next
            }
            #expect(failed?.count == pauses.count)
        }
        // Let's Encrypt allows five failed validations in an hour.
        #expect(OrderBackOff.bounds(.refused).first > 3600 / 5)
    }

    @Test func `the authority can demand a longer pause, of a week at most`() {
        func next(_ retryAfter: Double) -> FailedOrders {
            OrderBackOff.next(
                after: nil, kind: .passing, retryAfter: retryAfter, settings: Self.settings, authority: "a",
                at: Self.start, draw: 0)
        }
        #expect(next(10).retryAt == Self.start + 60)
        #expect(!next(10).isImposed)
        #expect(next(5000).retryAt == Self.start + 5000)
        #expect(next(5000).isImposed)
        #expect(next(1e9).retryAt == Self.start + 7 * Self.day)
    }

    @Test func `a restart shortens the pause, unless the authority demands it; other settings wait less`() {
        let other = ArtefactDigest(ofOrderSettings: "b")
        for (isImposed, seconds) in [(false, 900.0), (true, 20_000)] {
            let failed = FailedOrders(
                settings: Self.settings, authority: "a", count: 5, failedAt: Self.start,
                retryAt: Self.start + 20_000, isImposed: isImposed)
            func next(
                _ settings: ArtefactDigest, at authority: String = "a", startedAfter seconds: Double
            ) -> Date? {
                OrderBackOff.nextOrder(
                    after: [failed], settings: settings, authority: authority, start: Self.start + seconds)
            }
            #expect(next(Self.settings, startedAfter: -10) == Self.start + 20_000)
            #expect(next(Self.settings, startedAfter: 10) == Self.start + seconds)
            // Another authority has not failed.
            #expect(next(other, startedAfter: 10) == Self.start + (isImposed ? 20_000 : 60))
            #expect(next(other, at: "b", startedAfter: -10) == nil)
            // The record of other settings does not end the pause.
            let second = FailedOrders(
                settings: other, authority: "a", count: 1, failedAt: Self.start + 1, retryAt: Self.start + 61,
                isImposed: false)
            let both = OrderBackOff.nextOrder(
                after: [failed, second], settings: Self.settings, authority: "a", start: Self.start - 10)
            #expect(both == Self.start + 20_000)
        }
        #expect(OrderBackOff.nextOrder(after: [], settings: other, authority: "a", start: Self.start) == nil)
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
