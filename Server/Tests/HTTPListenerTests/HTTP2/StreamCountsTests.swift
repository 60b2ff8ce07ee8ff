import NIOCore
import NIOHPACK
import Testing

@testable import HTTPListener

/// The limits that the streams of an HTTP/2 connection share.
@Suite("HTTP/2: what the streams of a connection may use")
struct StreamCountsTests {
    @Test func `a connection has at most 64 requests, and heads of a limited size`() throws {
        var counts = StreamCounts()
        let parts = (0...StreamLimits.streams).compactMap { _ in counts.admit(headBytes: 100) }
        #expect(parts.count == StreamLimits.streams)
        #expect(parts.count { $0.hasFreeBody } == StreamLimits.freeBodies)
        counts.remove(try #require(parts.first), wasAnswering: false)
        let next = counts.admit(headBytes: 100)
        #expect(next?.hasFreeBody == true)

        var heads = StreamCounts()
        let sizes = [HeadLimits.listSize, HeadLimits.listSize, 1]
        #expect(sizes.map { heads.admit(headBytes: $0) != nil } == [true, true, false])
    }

    @Test func `the phase is that of the busiest stream`() throws {
        var counts = StreamCounts()
        #expect(counts.phase == .idle)
        let parts = (0..<2).compactMap { _ in counts.admit(headBytes: 1) }
        let (first, second) = (try #require(parts.first), try #require(parts.last))
        #expect(counts.phase == .reading)
        counts.beginAnswer()
        #expect(counts.phase == .answering)
        counts.remove(first, wasAnswering: true)
        #expect(counts.phase == .reading)
        counts.remove(second, wasAnswering: false)
        #expect(counts.phase == .idle && counts.headBytes == 0 && counts.freeBodies == 0)
    }

    @Test func `requests wait while eight are answered, or while the client does not take its responses`() throws {
        var counts = StreamCounts()
        for _ in 0..<StreamLimits.answers {
            #expect(counts.mayAnswer)
            _ = counts.admit(headBytes: 1)
            counts.beginAnswer()
        }
        #expect(!counts.mayAnswer)

        var unread = StreamCounts()
        unread.addUnsent(StreamLimits.unsentBytes)
        #expect(unread.mayAnswer)
        unread.addUnsent(1)
        #expect(!unread.mayAnswer)
        unread.addUnsent(-1)
        #expect(unread.mayAnswer)
    }

    @Test func `events are counted in periods`() {
        var counter = EventCounter(limit: 2, period: .seconds(30))
        let start = NIODeadline.now()
        #expect([0, 1, 2].map { counter.exceeds(at: start + .seconds($0)) } == [false, false, true])
        #expect([31, 32, 33].map { counter.exceeds(at: start + .seconds($0)) } == [false, false, true])
    }

    // RFC 7541 §7.1
    @Test func `a field with a secret stays out of the table of the connection`() {
        let fields = ResponseFieldCompression.applied(
            to: HPACKHeaders([(":status", "200"), ("set-cookie", "a=b"), ("location", "/?code=c"), ("vary", "Origin")]))
        #expect(
            fields.map { "\($0.name) \($0.indexable == .neverIndexed)" } == [
                ":status false", "set-cookie true", "location true", "vary false",
            ])
    }
}
