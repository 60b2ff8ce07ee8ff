import CounterfoilServer
import CounterfoilStore
import HTTPTypes
import Testing

@testable import CounterfoilWeb

/// The identifiers of a request that a proxy sends.
struct RequestIdentityTests {
    private static func fields(_ name: String, _ values: [String]) throws -> HTTPFields {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
        return fields
    }

    // An identifier comes into log lines, the audit log and error pages.
    @Test(arguments: [
        (["5a4f2b1c-77d0-4c0e-9f0b-0123456789ab"], true), (["AZ09-._:=+/"], true),
        ([String(repeating: "a", count: 64)], true), ([String(repeating: "a", count: 65)], false), ([""], false),
        (["a b"], false), (["a\"b"], false), (["<b>"], false), (["é"], false), (["a", "b"], false), ([], false),
    ])
    func `X-Request-ID is one short text without special characters`(values: [String], isTaken: Bool) throws {
        let id = RequestIdentity.request(in: try Self.fields("X-Request-ID", values))
        #expect(id == (isTaken ? values.first : nil))
    }

    @Test func `the identifiers of requests are random, with 16 letters and digits that look different`() {
        let ids = (0..<1000).map { _ in RequestIdentity.random() }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-hjkmnp-tv-z]{16}/) != nil })
        // Each place has 32 values, also the first and the last one.
        for place in 0..<16 { #expect(Set(ids.map { Array($0)[place] }).count == 32) }
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    // W3C Trace Context §3.2.2
    @Test(arguments: [
        ("00-\(trace)-00f067aa0ba902b7-01", true), ("01-\(trace)-00f067aa0ba902b7-01-more", true),
        ("00-\(trace)-00f067aa0ba902b7-01-more", false), ("ff-\(trace)-00f067aa0ba902b7-01", false),
        ("00-\(trace.uppercased())-00f067aa0ba902b7-01", false), ("00-\(trace)-0000000000000000-01", false),
        ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false), ("00-\(trace)-00f067aa0ba902b7", false),
        ("00-\(trace)0-00f067aa0ba902b7-01", false), ("", false),
    ])
    func `traceparent must be valid`(value: String, isValid: Bool) throws {
        let parent = RequestIdentity.parent(in: try Self.fields("traceparent", [value]))
        #expect(
            parent == (isValid ? TraceParent(traceID: Self.trace, spanID: "00f067aa0ba902b7", isSampled: true) : nil))
    }

    // W3C Trace Context §3.2.2.5
    @Test(arguments: [("00", false), ("01", true), ("02", false), ("03", true), ("ff", true)])
    func `the lowest bit of the flags says that the sender records the trace`(flags: String, isSampled: Bool) throws {
        let fields = try Self.fields("traceparent", ["00-\(Self.trace)-00f067aa0ba902b7-\(flags)"])
        #expect(RequestIdentity.parent(in: fields)?.isSampled == isSampled)
    }
}
