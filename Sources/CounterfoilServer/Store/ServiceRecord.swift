public import Foundation

/// A record of the last time at which the store answered, and of the outages before.
///
/// Only time during which the store answered counts for the grace period of a refresh: during an outage, no client could retry.
public struct ServiceRecord: Sendable, Hashable {
    /// A time during which no server could commit to the store.
    public struct Outage: Sendable, Hashable {
        /// When the store last answered before it.
        public let began: Date
        /// When the store answered again.
        public let ended: Date

        /// Makes an outage.
        public init(began: Date, ended: Date) {
            self.began = began
            self.ended = ended
        }
    }

    /// How long the store may be silent before that is an outage, in seconds: more than two intervals of ``Heartbeat``.
    public static let silenceLimit: TimeInterval = 5
    /// How many outages a store keeps, the last ones.
    public static let outageLimit = 200

    /// When a server last recorded that the store answers; nil when none has.
    public let answeredAt: Date?
    /// Outages, oldest first.
    public let outages: [Outage]

    /// Makes a record; without values, that of a store for which nothing was recorded.
    public init(answeredAt: Date? = nil, outages: [Outage] = []) {
        self.answeredAt = answeredAt
        self.outages = outages
    }

    /// Counts the time during which the store answered between two moments, in seconds.
    ///
    /// Silence that lasts until the second moment counts as an outage, so that the first request after one is judged by it.
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

/// The record of outages, which every server on the store writes.
public protocol ServiceRecordStore: Sendable {
    /// Records that the store answers at a moment; earlier moments change nothing.
    ///
    /// - Parameters:
    ///   - now: The moment.
    ///   - silence: The time without a record that is kept as an outage when it is exceeded, in seconds.
    func recordService(at now: Date, outageAfter silence: TimeInterval) async throws(StoreFault)
    /// Reads the record, with the outages that ended after a moment.
    func serviceRecord(since start: Date) async throws(StoreFault) -> ServiceRecord
}
