/// The maximum numbers of open connections, in total and from one source.
package struct ConnectionLimits: Sendable, Hashable {
    /// The default limits: 10,000 connections in total, and 1,000 from one source.
    package static let standard = ConnectionLimits(total: 10_000)

    /// The smallest value of ``total``; with fewer connections, a server is not usable.
    package static let minimum = 16

    /// The number of sockets that may be open in addition to ``total``: refused or evicted connections whose close has
    /// not completed.
    package static let closingAllowance = 64

    /// The maximum number of open connections from all sources together.
    package let total: Int
    /// The maximum number of open connections from one source.
    ///
    /// The limit is a tenth of ``total``. If that is less than 32 (enough for a few browsers), the limit is 32 or half
    /// of ``total``, whichever is lower.
    package let perSource: Int

    /// Creates the limits for a total number of connections, which is raised to ``minimum`` if it is lower.
    package init(total: Int) {
        self.total = max(total, Self.minimum)
        perSource = max(self.total / 10, min(32, self.total / 2))
    }
}
