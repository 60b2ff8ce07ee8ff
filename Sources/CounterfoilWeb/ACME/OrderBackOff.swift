package import CounterfoilServer
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
    ///   - former: The record of the failures before it; nil if there are none.
    ///   - kind: The kind of the failure.
    ///   - retryAfter: The time in seconds that the authority has demanded; nil if it has demanded none.
    ///   - settings: The digest of the settings of the order.
    ///   - now: The current time.
    ///   - draw: A random number from 0 to 1.
    package static func next(
        after former: FailedOrders?, kind: Kind, retryAfter: TimeInterval?, settings: ArtefactDigest, at now: Date,
        draw: Double
    ) -> FailedOrders {
        let count = (former.flatMap { $0.settings == settings ? $0.count : nil } ?? 0) + 1
        let (first, longest) = bounds(kind)
        let pause = min(first * pow(2, Double(min(count, 20) - 1)), longest) * (1 + 0.25 * draw)
        let imposed = retryAfter.map { min($0, longestImposed) }
        return FailedOrders(
            settings: settings, count: count, failedAt: now, retryAt: now + max(pause, imposed ?? 0),
            isImposed: kind == .limited || (imposed ?? 0) > pause)
    }

    /// Returns the time of the next order.
    ///
    /// An operator who has mended the cause restarts the server. A server that has just started therefore waits only as
    /// long as after a first failure, unless the authority has demanded more.
    ///
    /// - Parameters:
    ///   - failed: The record of the failed orders.
    ///   - settings: The digest of the current settings; after a change, there is nothing to wait for.
    ///   - start: The time at which the server was started.
    package static func nextOrder(after failed: FailedOrders, settings: ArtefactDigest, start: Date) -> Date {
        guard failed.settings == settings else { return failed.failedAt }
        guard !failed.isImposed, start > failed.failedAt else { return failed.retryAt }
        return min(failed.retryAt, failed.failedAt + bounds(.refused).first)
    }
}
