import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: outages of the store")
struct ServiceRecordContractTests {
    /// Returns a time in whole seconds, so that differences are exact.
    private static func time(_ seconds: TimeInterval) -> Date { Date(timeIntervalSince1970: 1_800_000_000 + seconds) }

    private static func outage(_ began: TimeInterval, _ ended: TimeInterval) -> ServiceRecord.Outage {
        ServiceRecord.Outage(began: time(began), ended: time(ended))
    }

    @Test(arguments: StoreKind.allCases)
    func `silence beyond the limit is recorded as an outage, and kept across a restart`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStorage { storage in
            #expect(try await storage.store.serviceRecord(since: Self.time(0)) == ServiceRecord())
            for seconds in [0.0, 2, 7, 13, 15] {
                try await storage.store.recordService(at: Self.time(seconds), outageAfter: 5)
            }
            try await storage.reopen()
            try await storage.store.recordService(at: Self.time(60), outageAfter: 5)
            let all = ServiceRecord(answeredAt: Self.time(60), outages: [Self.outage(7, 13), Self.outage(15, 60)])
            #expect(try await storage.store.serviceRecord(since: Self.time(0)) == all)
            #expect(try await storage.store.serviceRecord(since: Self.time(13)).outages == [Self.outage(15, 60)])
            #expect(
                try await storage.store.serviceRecord(since: Self.time(60))
                    == ServiceRecord(answeredAt: Self.time(60)))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `taking up space is no heartbeat, and can be repeated`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            for _ in 1...3 { try await store.takeUpSpace() }
            #expect(try await store.serviceRecord(since: Self.time(0)) == ServiceRecord())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `servers whose clocks differ record no outage of each other`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            for seconds in stride(from: 0.0, to: 40, by: 2) {
                try await store.recordService(at: Self.time(seconds), outageAfter: 5)
                try await store.recordService(at: Self.time(seconds + 3600), outageAfter: .infinity)
            }
            let record = try await store.serviceRecord(since: Self.time(0))
            #expect(record == ServiceRecord(answeredAt: Self.time(3638)))
        }
    }

    // A time in the future is from before the clock was set back.
    @Test(arguments: StoreKind.allCases)
    func `after the clock was set back, outages are recorded again`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            for seconds in [3600.0, 3602, 3620, 3622] {
                try await store.recordService(at: Self.time(seconds), outageAfter: 5)
            }
            try await store.recordService(at: Self.time(10), outageAfter: 5)
            #expect(try await store.serviceRecord(since: Self.time(0)) == ServiceRecord(answeredAt: Self.time(10)))
            try await store.recordService(at: Self.time(12), outageAfter: 5)
            try await store.recordService(at: Self.time(60), outageAfter: 5)
            let record = ServiceRecord(answeredAt: Self.time(60), outages: [Self.outage(12, 60)])
            #expect(try await store.serviceRecord(since: Self.time(0)) == record)
            // Heartbeats whose commits are in another order than their times change nothing.
            try await store.recordService(at: Self.time(58), outageAfter: 5)
            #expect(try await store.serviceRecord(since: Self.time(0)) == record)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the most recent outages are kept`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let count = ServiceRecord.outageLimit + 5
            for number in 0...count {
                try await store.recordService(at: Self.time(Double(number) * 10), outageAfter: 5)
            }
            let outages = try await store.serviceRecord(since: Self.time(0)).outages
            #expect(outages.count == ServiceRecord.outageLimit)
            #expect(outages.first == Self.outage(50, 60))
        }
    }

    @Test(
        arguments: [
            (0.0, 40.0, 40.0), (20, 26, 1), (5, 5, 0), (21, 24, 0), (15, 33, 5 + 8),
        ] as [(TimeInterval, TimeInterval, TimeInterval)])
    func `the time of an outage does not count as answered`(
        from start: TimeInterval, to end: TimeInterval, answered: TimeInterval
    ) {
        let record = ServiceRecord(
            answeredAt: Self.time(end),
            outages: start == 0 ? [] : [Self.outage(20, 25)])
        #expect(record.answeredTime(from: Self.time(start), to: Self.time(end)) == answered)
    }

    @Test func `a continuing silence is an outage after its limit`() {
        let record = ServiceRecord(answeredAt: Self.time(10), outages: [Self.outage(2, 4)])
        #expect(record.answeredTime(from: Self.time(0), to: Self.time(15)) == 13)
        #expect(record.answeredTime(from: Self.time(0), to: Self.time(16)) == 8)
        #expect(record.answeredTime(from: Self.time(12), to: Self.time(50)) == 0)
    }
}
