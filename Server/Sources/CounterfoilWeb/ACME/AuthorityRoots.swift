import NIOSSL

/// The root certificates of a private authority, which replace those of the system in the connection to it.
package struct AuthorityRoots: Sendable {
    let certificates: [NIOSSLCertificate]

    /// Parses PEM certificates (RFC 7468 §5).
    ///
    /// - Throws: `OutboundAuthorities.Refusal` if the text contains a private key or no valid certificate.
    package init(pem text: String) throws(OutboundAuthorities.Refusal) {
        certificates = try OutboundAuthorities.certificates(in: text)
    }
}
