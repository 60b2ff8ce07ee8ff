import NIOCore

/// The limits of open connections.
public struct ConnectionLimits: Sendable, Hashable {
    /// The default limits.
    public static let standard = ConnectionLimits(total: 10_000)

    /// The smallest limit with which a server is usable.
    public static let minimum = 16

    /// The number of sockets allowed above the limit: refused or evicted connections that are being closed.
    static let closingAllowance = 64

    /// The number of descriptors reserved for other uses than connections.
    ///
    /// These are the database and its readers, DNS lookups, outbound requests, the listeners, and sockets that
    /// are being closed. Each thread that serves requests may open a connection to the database, of up to three
    /// descriptors.
    public static var reservedDescriptors: Int { 128 + 8 * System.coreCount }

    /// The limit of all connections together.
    public let total: Int
    /// The limit of one source: a tenth of all, at least 32 (enough for a few browsers), at most half.
    public let perSource: Int

    /// Creates the limits for a number of connections.
    public init(total: Int) {
        self.total = max(total, Self.minimum)
        perSource = max(self.total / 10, min(32, self.total / 2))
    }
}
