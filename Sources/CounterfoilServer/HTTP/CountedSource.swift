package import CounterfoilProtocol

extension IncomingRequest {
    /// Returns the client address that failed authentications are counted for; nil if it is that of a local proxy.
    ///
    /// With an https issuer, a loopback address belongs to a reverse proxy on this machine whose forwarded address
    /// is missing or not trusted. All requests through the proxy then have its address, so a limit would affect
    /// all users.
    package func countedSource(_ issuer: Issuer) -> String? {
        issuer.isSecure && ["127.0.0.1", "::1"].contains(source) ? nil : source
    }
}
