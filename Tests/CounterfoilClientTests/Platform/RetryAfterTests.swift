import Foundation
import HTTPTypes
import Testing

@testable import CounterfoilClient

/// Tests of Retry-After, in seconds and as a date.
struct RetryAfterTests {
    private static func pause(_ text: String) -> Duration? {
        var head = HTTPResponse(status: .serviceUnavailable)
        head.headerFields[.retryAfter] = text
        return TransportResponse(head: head, body: []).retryAfter
    }

    // RFC 9110 §10.2.3
    @Test func `seconds and dates are parsed, and the delay is at most one day`() throws {
        #expect(Self.pause("120") == .seconds(120))
        #expect(Self.pause("-1") == .zero)
        #expect(Self.pause("99999999") == .seconds(86400))
        #expect(Self.pause("Sun, 06 Nov 1994 08:49:37 GMT") == .zero)
        #expect(Self.pause("Fri, 31 Dec 2199 23:59:59 GMT") == .seconds(86400))
        for text in ["", "soon", "1.5", "06 Nov 1994", String(repeating: "9", count: 400)] {
            #expect(Self.pause(text) == nil, "\(text)")
        }
    }

    // RFC 9110 §5.6.7
    @Test func `a date is parsed only in the form that HTTP senders generate`() {
        #expect(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT") == Date(timeIntervalSince1970: 784_111_777))
        #expect(HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT") == nil)
        #expect(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 CET") == nil)
        for text in [
            "", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "Son, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 00:00:00 GMT", "Thu, 29 Feb 1900 00:00:00 GMT",
            "Sun, 06 Növ 1994 8:49:37 GMT",
        ] {
            #expect(HTTPDate.parse(text) == nil, "\(text)")
        }
    }

    // RFC 9110 §5.6.7
    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
    ])
    func `a date is parsed to the second`(text: String, seconds: Double) {
        #expect(HTTPDate.parse(text) == Date(timeIntervalSince1970: seconds))
    }
}
