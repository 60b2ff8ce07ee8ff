import Foundation
import PostgreSQLTesting
import Testing

@testable import PostgreSQLDriver

@Suite("PostgreSQL: the clock of the database", .timeLimit(.minutes(2)))
struct DatabaseClockTests {
    private let start = ContinuousClock.now

    private func measurement(at seconds: Double, roundTrip: Double, says time: Double) -> ClockMeasurement {
        let middle = start + .seconds(seconds)
        return ClockMeasurement(
            sentAt: middle - .seconds(roundTrip / 2), receivedAt: middle + .seconds(roundTrip / 2),
            microseconds: Int64(time * 1_000_000))
    }

    private func time(_ clock: DatabaseClock, at seconds: Double) -> Double {
        (clock.now(at: start + .seconds(seconds)).timeIntervalSince1970 * 1000).rounded() / 1000
    }

    @Test func `time continues from the middle of the round trip`() {
        let clock = DatabaseClock(measurement(at: 0, roundTrip: 0.2, says: 1000))
        #expect(time(clock, at: 0) == 1000)
        #expect(time(clock, at: 60) == 1060)
    }

    @Test func `a better measurement replaces a worse one, and not the reverse`() {
        let clock = DatabaseClock(measurement(at: 0, roundTrip: 0.4, says: 1000))
        clock.note(measurement(at: 10, roundTrip: 0.01, says: 1010.1))
        #expect(time(clock, at: 20) == 1020.1)
        clock.note(measurement(at: 20, roundTrip: 1, says: 1020.4))
        #expect(time(clock, at: 30) == 1030.1)
        // The best one has become uncertain.
        clock.note(measurement(at: 2030, roundTrip: 1, says: 3030.5))
        #expect(time(clock, at: 2040) == 3040.5)
    }

    @Test func `a database that is set forward is followed`() {
        let clock = DatabaseClock(measurement(at: 0, roundTrip: 0.01, says: 1000))
        clock.note(measurement(at: 10, roundTrip: 0.5, says: 1610))
        #expect(time(clock, at: 20) == 1620)
    }

    @Test func `a database that is set back slows the clock down, and never turns it back`() {
        let clock = DatabaseClock(measurement(at: 0, roundTrip: 0.01, says: 1000))
        #expect(time(clock, at: 10) == 1010)
        clock.note(measurement(at: 10, roundTrip: 0.01, says: 990))
        var last = 1010.0
        for second in 11...30 {
            let now = time(clock, at: Double(second))
            #expect(now > last)
            last = now
        }
        #expect(last == 1020)
        #expect(time(clock, at: 60) == 1040)
        #expect(time(clock, at: 50) == 1040)
    }

    @Test func `a clock that is slowed down continues however often it is read`() {
        let clock = DatabaseClock(measurement(at: 0, roundTrip: 0.01, says: 1000))
        #expect(time(clock, at: 10) == 1010)
        clock.note(measurement(at: 10, roundTrip: 0.01, says: 990))
        for step in 1...10_000 { _ = clock.now(at: start + .seconds(10) + .nanoseconds(step * 300)) }
        let end = clock.now(at: start + .seconds(10) + .milliseconds(3))
        #expect(end == Date(timeIntervalSince1970: 1010.0015))
    }

    @Test func `it agrees with the clock of the server`() async throws {
        let server = try await PostgreSQLServer.shared.value
        let opened = try Connection.open(server.connectionURI())
        let clock = DatabaseClock(opened.clock)
        let earliest = clock.now().timeIntervalSince1970 - 0.5
        #expect((earliest...(earliest + 5)).contains(Date().timeIntervalSince1970))
        #expect(opened.clock.error < .seconds(1))
        #expect(clock.claimMeasurement(at: .now + .seconds(20)))
        #expect(!clock.claimMeasurement(at: .now + .seconds(20)))
    }
}
