import ACMEClient
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The orders that have failed, as far as this server knows them.
///
/// The store has the records of all servers. A record that it could not keep is here only.
struct OrderFailures {
    /// The digest of the current settings.
    let settings: ArtefactDigest
    /// The URL of the directory of the current settings.
    let authority: String
    /// The time at which the server was started.
    let start: Date

    private var stored: [FailedOrders] = []
    /// The last failure, if the store could not keep it.
    private var unstored: FailedOrders?

    init(settings: ArtefactDigest, authority: String, start: Date) {
        (self.settings, self.authority, self.start) = (settings, authority, start)
    }

    /// Takes over the records of the store.
    mutating func replace(by stored: [FailedOrders]) { self.stored = stored }

    /// Returns the record of a further failure of this server.
    func record(of failure: OrderFailure, at now: Date, draw: Double) -> FailedOrders {
        OrderBackOff.next(
            after: last(at: now), kind: failure.kind, retryAfter: failure.retryAfter, settings: settings,
            authority: authority, at: now, draw: draw)
    }

    /// Notes the record of a failure of this server.
    mutating func note(_ record: FailedOrders, isStored: Bool) {
        unstored = isStored ? nil : record
        guard isStored else { return }
        stored.removeAll { $0.settings == record.settings }
        stored.append(record)
    }

    /// Forgets the failures with the current settings after an order that has succeeded.
    mutating func end() {
        unstored = nil
        stored.removeAll { $0.settings == settings }
    }

    /// The records of all settings, without those of the future, which are from before the clock was set back.
    private func records(at now: Date) -> [FailedOrders] {
        (stored + (unstored.map { [$0] } ?? [])).filter { $0.failedAt <= now + 60 }
    }

    /// Returns the last failure with the current settings; nil if there is none.
    private func last(at now: Date) -> FailedOrders? {
        records(at: now).filter { $0.settings == settings }.max { $0.failedAt < $1.failedAt }
    }

    /// Returns the number of orders in a row that have failed with the current settings.
    ///
    /// - Parameters:
    ///   - success: The time at which the certificate in use was stored; nil if there is none. A server with other
    ///     settings may have ordered it, and then leaves the record of these settings.
    ///   - now: The current time.
    func count(since success: Date?, at now: Date) -> Int {
        guard let last = last(at: now) else { return 0 }
        guard let success, success <= now + 60 else { return last.count }
        return last.failedAt > success ? last.count : 0
    }

    /// Returns true if no order may be made yet.
    func mustWait(at now: Date) -> Bool {
        let next = OrderBackOff.nextOrder(
            after: records(at: now), settings: settings, authority: authority, start: start)
        return next.map { now < $0 } ?? false
    }
}

extension ACMESettings {
    /// The digest of what decides whether an order succeeds.
    var digest: ArtefactDigest {
        let parts = ["\(directory)", challenge.rawValue, externalAccount?.keyIdentifier ?? ""] + hosts.sorted()
        return ArtefactDigest(ofOrderSettings: parts.joined(separator: "\n"))
    }
}
