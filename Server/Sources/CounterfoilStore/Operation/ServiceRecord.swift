public import Foundation

/// The time of the last heartbeat in the store, and the recent outages of the service.
///
/// A heartbeat is a write with which a server records that the store responds (see `Heartbeat`). The grace period of
/// a refresh excludes outages, because clients cannot retry during an outage.
public struct ServiceRecord: Sendable, Hashable {
    /// A period without a heartbeat: no server was running, or none could commit to the store.
    public struct Outage: Sendable, Hashable {
        /// The time of the last heartbeat before the outage.
        public let began: Date
        /// The time of the first heartbeat after the outage.
        public let ended: Date

        /// Creates an outage between the heartbeats at two times, the earlier one first.
        public init(began: Date, ended: Date) {
            self.began = began
            self.ended = ended
        }
    }

    /// The time without a heartbeat after which an outage is recorded, in seconds.
    ///
    /// The limit is more than two intervals of `Heartbeat`.
    public static let silenceLimit: TimeInterval = 5
    /// The maximum number of outages that a store keeps; beyond it, the store deletes the oldest.
    public static let outageLimit = 200

    /// The time of the last heartbeat; nil if there was none.
    public let answeredAt: Date?
    /// The outages, oldest first.
    public let outages: [Outage]

    /// Creates a record; by default, it has no heartbeat and no outage.
    public init(answeredAt: Date? = nil, outages: [Outage] = []) {
        self.answeredAt = answeredAt
        self.outages = outages
    }

    /// Returns the seconds between two times, without the outages between them.
    ///
    /// If the last heartbeat is more than ``silenceLimit`` before `end`, the time since that heartbeat counts as an
    /// outage. The result is thus correct even if a request arrives before the outage is recorded.
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

/// The record of heartbeats and outages, to which every server process that uses the store writes.
public protocol ServiceRecordStore: Sendable {
    /// Records a heartbeat at a time, unless a later one is already recorded.
    ///
    /// If the previous heartbeat is more than `silence` before `now`, the store records the time between them as an
    /// outage in the same transaction. It keeps at most ``ServiceRecord/outageLimit`` outages.
    ///
    /// If the previous heartbeat is more than `silence` after `now`, the clock was set back. The store then records
    /// `now`, and deletes the outages that ended after it. Otherwise no outage would be recorded until the clock
    /// reaches the former time.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - silence: The time without a heartbeat after which an outage is recorded, in seconds.
    func recordService(at now: Date, outageAfter silence: TimeInterval) async throws(StoreFault)
    /// Commits something that needs as much space as a few sign-ins, and leaves nothing of it.
    ///
    /// It fails on a full disk, on which ``recordService(at:outageAfter:)`` may succeed.
    func takeUpSpace() async throws(StoreFault)
    /// Reads the record with the outages that ended after a time.
    func serviceRecord(since start: Date) async throws(StoreFault) -> ServiceRecord
}
