package import CounterfoilProtocol

extension IncomingRequest {
    /// Whom to count failures against; nil behind a proxy on this machine, from which every connection comes.
    package func countedSource(_ issuer: Issuer) -> String? {
        issuer.isSecure && ["127.0.0.1", "::1"].contains(source) ? nil : source
    }
}
