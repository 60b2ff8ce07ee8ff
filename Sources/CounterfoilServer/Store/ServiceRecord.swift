public import Foundation

/// The last time at which the store responded, and the outages before.
///
/// Only time without an outage counts for the grace period of a refresh, because clients cannot retry during
/// an outage.
public struct ServiceRecord: Sendable, Hashable {
    /// A time in which no server could commit to the store.
    public struct Outage: Sendable, Hashable {
        /// The last time at which the store responded before the outage.
        public let began: Date
        /// The time at which the store responded again.
        public let ended: Date

        /// Creates an outage.
        public init(began: Date, ended: Date) {
            self.began = began
            self.ended = ended
        }
    }

    /// The seconds without a response after which an outage is recorded: more than two intervals of
    /// ``Heartbeat``.
    public static let silenceLimit: TimeInterval = 5
    /// The number of outages that a store keeps, the latest ones.
    public static let outageLimit = 200

    /// The last time at which a server recorded a response; nil if none has.
    public let answeredAt: Date?
    /// The outages, oldest first.
    public let outages: [Outage]

    /// Creates a record; empty by default, as in a store in which nothing was recorded.
    public init(answeredAt: Date? = nil, outages: [Outage] = []) {
        self.answeredAt = answeredAt
        self.outages = outages
    }

    /// Returns the seconds between two times in which the store responded.
    ///
    /// If the store has been silent up to the second time, that counts as an outage. The first request after
    /// an outage is thus treated correctly.
    public func answeredTime(from start: Date, to end: Date) -> TimeInterval {
        var away = outages
        if let answeredAt, end.timeIntervalSince(answeredAt) > Self.silenceLimit {
            away.append(Outage(began: answeredAt, ended: end))
        }
        return away.reduce(end.timeIntervalSince(start)) { time, outage in
            time - max(0, min(outage.ended, end).timeIntervalSince(max(outage.began, start)))
        }
    }
}

/// The record of outages, which every server that uses the store updates.
public protocol ServiceRecordStore: Sendable {
    /// Records that the store responds at a time. An earlier time than the recorded one changes nothing.
    ///
    /// If the recorded time is more than `silence` ago, the time between is recorded as an outage in the same
    /// transaction. At most ``ServiceRecord/outageLimit`` outages are kept.
    ///
    /// - Parameters:
    ///   - now: The present time.
    ///   - silence: The limit in seconds.
    func recordService(at now: Date, outageAfter silence: TimeInterval) async throws(StoreFault)
    /// Reads the record with the outages that ended after a time.
    func serviceRecord(since start: Date) async throws(StoreFault) -> ServiceRecord
}
