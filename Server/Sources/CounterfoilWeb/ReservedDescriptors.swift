package import HTTPListener
import NIOCore

extension ConnectionLimits {
    /// The number of file descriptors reserved for other uses than connections.
    ///
    /// The other uses are the database and its readers, DNS lookups, outbound requests, the listeners, and sockets that
    /// are being closed. Each thread that serves requests may open a connection to the database, with up to three
    /// descriptors.
    package static var reservedDescriptors: Int { 128 + 8 * System.coreCount }

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
}
