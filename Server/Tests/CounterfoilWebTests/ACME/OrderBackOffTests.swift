import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

@testable import CounterfoilWeb

@Suite("ACME: the times of orders")
struct OrderBackOffTests {
    private static let day = 86_400.0
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)
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
}
