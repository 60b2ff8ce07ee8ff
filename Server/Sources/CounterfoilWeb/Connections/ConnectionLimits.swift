import NIOCore

/// The maximum numbers of open connections, in total and from one source.
public struct ConnectionLimits: Sendable, Hashable {
    /// The default limits: 10,000 connections in total, and 1,000 from one source.
    public static let standard = ConnectionLimits(total: 10_000)

    /// The smallest value of ``total``; with fewer connections, a server is not usable.
    public static let minimum = 16

    /// The number of sockets that may be open in addition to ``total``: refused or evicted connections whose close has
    /// not completed.
    static let closingAllowance = 64

    /// The number of file descriptors reserved for other uses than connections.
    ///
    /// The other uses are the database and its readers, DNS lookups, outbound requests, the listeners, and sockets that
    /// are being closed. Each thread that serves requests may open a connection to the database, with up to three
    /// descriptors.
    public static var reservedDescriptors: Int { 128 + 8 * System.coreCount }

    /// Returns the number of file descriptors reserved for other uses, those of the other listeners included.
    ///
    /// - Parameters:
    ///   - redirects: Whether a listener redirects to https.
    ///   - metrics: Whether a listener serves metrics.
    package static func reservedDescriptors(redirects: Bool, metrics: Bool) -> Int {
        reservedDescriptors + (redirects ? Self.redirects + closingAllowance : 0)
            + (metrics ? Self.metrics + closingAllowance : 0)
    }

    /// The maximum number of open connections that are redirected to https.
    static let redirects = 64
    /// The maximum number of open connections to the metrics service.
    static let metrics = 16

    /// The maximum number of open connections from all sources together.
    public let total: Int
    /// The maximum number of open connections from one source.
    ///
    /// The limit is a tenth of ``total``. If that is less than 32 (enough for a few browsers), the limit is 32 or half
    /// of ``total``, whichever is lower.
    public let perSource: Int

    /// Creates the limits for a total number of connections, which is raised to ``minimum`` if it is lower.
    public init(total: Int) {
        self.total = max(total, Self.minimum)
        perSource = max(self.total / 10, min(32, self.total / 2))
    }
}
