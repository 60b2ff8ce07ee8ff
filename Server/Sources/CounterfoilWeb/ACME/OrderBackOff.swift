import CounterfoilServer
package import CounterfoilStore
package import Foundation

/// The time between orders that fail, which keeps the server below the limits of the authority.
package enum OrderBackOff {
    /// The kind of a failure, which decides how soon another order makes sense.
    package enum Kind: Sendable, Hashable {
        /// The authority could not be reached, or has failed itself.
        case passing
        /// A host could not be validated, or the authority refuses the order.
        ///
        /// Authorities count these; Let's Encrypt allows five for each host in an hour.
        case refused
        /// A limit of the authority was reached.
        case limited
    }

    /// The time in seconds after the first failure, and the longest one.
    static func bounds(_ kind: Kind) -> (first: TimeInterval, longest: TimeInterval) {
        switch kind {
        case .passing: (60, 3600)
        case .refused: (900, 6 * 3600)
        case .limited: (3600, 12 * 3600)
        }
    }

    /// The longest time in seconds for which the server follows the demand of an authority.
    private static let longestImposed: TimeInterval = 7 * 86_400

    /// Returns the record of a further failure.
    ///
    /// - Parameters:
    ///   - former: The record of the failures before it with the same settings; nil if there are none.
    ///   - kind: The kind of the failure.
    ///   - retryAfter: The time in seconds that the authority has demanded; nil if it has demanded none.
    ///   - settings: The digest of the settings of the order.
    ///   - authority: The URL of the directory.
    ///   - now: The current time.
    ///   - draw: A random number from 0 to 1.
    package static func next(
        after former: FailedOrders?, kind: Kind, retryAfter: TimeInterval?, settings: ArtefactDigest,
        authority: String, at now: Date, draw: Double
    ) -> FailedOrders {
        let count = (former.flatMap { $0.settings == settings ? $0.count : nil } ?? 0) + 1
        let (first, longest) = bounds(kind)
        let pause = min(first * pow(2, Double(min(count, 20) - 1)), longest) * (1 + 0.25 * draw)
        let imposed = retryAfter.map { min($0, longestImposed) }
        return FailedOrders(
            settings: settings, authority: authority, count: count, failedAt: now,
            retryAt: now + max(pause, imposed ?? 0),
            isImposed: kind == .limited || (imposed ?? 0) > pause)
    }

    /// Returns the time of the next order; nil if there is nothing to wait for.
    ///
    /// An operator who has mended the cause restarts the server. A server that has just started therefore waits only as
    /// long as after a first failure, unless the authority has demanded more.
    ///
    /// Other settings have records of their own, and are tried soon. They still wait as long as the same authority has
    /// demanded, and not less than the shortest pause after a failure, so that servers with different settings do not
    /// order in turns.
    ///
    /// - Parameters:
    ///   - failed: The records of the failed orders.
    ///   - settings: The digest of the current settings.
    ///   - authority: The URL of the directory of the current settings.
    ///   - start: The time at which the server was started.
    package static func nextOrder(
        after failed: [FailedOrders], settings: ArtefactDigest, authority: String, start: Date
    ) -> Date? {
        failed.compactMap { record -> Date? in
            if record.settings == settings {
                guard !record.isImposed, start > record.failedAt else { return record.retryAt }
                return min(record.retryAt, record.failedAt + bounds(.refused).first)
            }
            guard record.authority == authority else { return nil }
            return record.isImposed ? record.retryAt : record.failedAt + bounds(.passing).first
        }.max()
    }
}
