import NIOCore

/// The number of connections that may be open at once.
public struct ConnectionLimits: Sendable, Hashable {
    /// The number of connections without a setting of the operator.
    public static let standard = ConnectionLimits(total: 10_000)

    /// The fewest connections with which a server is of use.
    public static let minimum = 16

    /// Sockets that may be open above the limit for a moment: refused or evicted ones that are being closed.
    static let closingAllowance = 64

    /// The descriptors that connections never take: for the database and its readers, name look-ups, outbound requests, the
    /// listeners, and sockets that are being closed.
    ///
    /// A thread that serves requests may open a connection to the database, of up to three descriptors.
    public static var reservedDescriptors: Int { 128 + 8 * System.coreCount }

    /// The limit of all connections together.
    public let total: Int
    /// The limit of one source address: a tenth of all, and at least as many as a few browsers open.
    public let perSource: Int

    /// Creates the limits for a number of connections.
    public init(total: Int) {
        self.total = max(total, Self.minimum)
        perSource = max(self.total / 10, min(32, self.total / 2))
    }
}
