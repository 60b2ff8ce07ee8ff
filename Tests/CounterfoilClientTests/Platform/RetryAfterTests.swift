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
    }
}
