public import Foundation

/// The last time at which the store responded, and its recent outages.
///
/// The grace period of a refresh excludes outages, because clients cannot retry during an outage.
public struct ServiceRecord: Sendable, Hashable {
    /// A period in which no server could commit to the store.
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

    /// The time without a response after which an outage is recorded, in seconds.
    ///
    /// It is more than two intervals of ``Heartbeat``.
    public static let silenceLimit: TimeInterval = 5
    /// The maximum number of outages that a store keeps; it deletes the oldest.
    public static let outageLimit = 200

    /// The last time at which a server recorded a response; nil if none has.
    public let answeredAt: Date?
    /// The outages, oldest first.
    public let outages: [Outage]

    /// Creates a record; by default, no response and no outage is recorded.
    public init(answeredAt: Date? = nil, outages: [Outage] = []) {
        self.answeredAt = answeredAt
        self.outages = outages
    }

    /// Returns the time between two times without the outages between them, in seconds.
    ///
    /// If the last recorded response is more than ``silenceLimit`` before `end`, the time since that response
    /// counts as an outage. The result is thus correct even if a request arrives before the outage is recorded.
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

/// The record of outages, which every server that uses the store keeps up to date.
public protocol ServiceRecordStore: Sendable {
    /// Records that the store responds at a time, unless a later time is already recorded.
    ///
    /// If the recorded time is more than `silence` ago, the time since then is recorded as an outage in the same
    /// transaction. At most ``ServiceRecord/outageLimit`` outages are kept.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - silence: The time without a response after which an outage is recorded, in seconds.
    func recordService(at now: Date, outageAfter silence: TimeInterval) async throws(StoreFault)
    /// Reads the record with the outages that ended after a time.
    func serviceRecord(since start: Date) async throws(StoreFault) -> ServiceRecord
}
