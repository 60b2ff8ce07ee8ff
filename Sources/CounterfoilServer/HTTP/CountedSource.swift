package import CounterfoilProtocol

extension IncomingRequest {
    /// The source of a request that a proxy at a Unix socket sent without a trusted client address.
    package static let unixSocket = "unix"

    /// Returns the IP address for which failed authentications are counted; nil for the address of a local proxy.
    ///
    /// With an https issuer, a loopback address belongs to a reverse proxy on this machine that forwards no client
    /// address, or that the server does not trust. All requests then have the address of the proxy, so a limit for
    /// this address would affect all users. The same holds for a proxy at a Unix socket, whatever the issuer is.
    package func countedSource(_ issuer: Issuer) -> String? {
        source == Self.unixSocket || issuer.isSecure && ["127.0.0.1", "::1"].contains(source) ? nil : source
    }
}
