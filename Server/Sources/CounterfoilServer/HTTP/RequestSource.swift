package import CounterfoilProtocol
package import CounterfoilStore

extension IncomingRequest {
    /// Returns the networks for which limits count the request; nil for the address of a local proxy.
    ///
    /// With an https issuer, a loopback address belongs to a reverse proxy on this machine that forwards no client
    /// address, or that the server does not trust. All requests then have the address of the proxy, so a limit for
    /// this address would affect all users. The same holds for a proxy at a Unix socket, whatever the issuer is.
    package func countedSource(_ issuer: Issuer) -> CountedSource? {
        source == CountedSource.unixSocket || issuer.isSecure && ["127.0.0.1", "::1"].contains(source)
            ? nil : CountedSource(source)
    }
}
