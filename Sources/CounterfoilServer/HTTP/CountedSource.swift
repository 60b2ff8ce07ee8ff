package import CounterfoilProtocol

extension IncomingRequest {
    /// Returns the IP address for which failed authentications are counted; nil for the address of a local proxy.
    ///
    /// With an https issuer, a loopback address belongs to a reverse proxy on this machine that forwards no client
    /// address, or that the server does not trust. All requests then have the address of the proxy, so a limit for
    /// this address would affect all users.
    package func countedSource(_ issuer: Issuer) -> String? {
        issuer.isSecure && ["127.0.0.1", "::1"].contains(source) ? nil : source
    }
}
