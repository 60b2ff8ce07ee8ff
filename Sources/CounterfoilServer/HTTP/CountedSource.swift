package import CounterfoilProtocol

extension IncomingRequest {
    /// The source that failed attempts are counted against; nil behind a proxy on this machine.
    ///
    /// Every connection through such a proxy has the same address.
    package func countedSource(_ issuer: Issuer) -> String? {
        issuer.isSecure && ["127.0.0.1", "::1"].contains(source) ? nil : source
    }
}
