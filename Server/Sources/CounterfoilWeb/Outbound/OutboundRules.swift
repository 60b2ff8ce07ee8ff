public import CounterfoilServer
import Foundation
import NIOCore
package import NIOSSL

/// The operator's rules for outbound requests, such as logout notifications, to hosts that developers choose.
public struct OutboundRules: Sendable {
    /// Allows public addresses only, and trusts the certificate authorities of the system.
    public static let standard = OutboundRules()

    /// The private networks that outbound requests may reach in addition to public addresses.
    public let networks: OutboundNetworks
    /// The certificate authorities that may issue the certificates of the hosts.
    public let authorities: OutboundAuthorities

    /// Creates rules, by default those of ``standard``.
    public init(networks: OutboundNetworks = .none, authorities: OutboundAuthorities = .system) {
        self.networks = networks
        self.authorities = authorities
    }
}

/// The certificate authorities that outbound requests trust: those of the system, and those of the operator's
/// file.
public struct OutboundAuthorities: Sendable {
    /// An error for a file without usable certificates.
    public struct Refusal: Error, Hashable, CustomStringConvertible {
        /// The reason, without the name of the file.
        public let description: String
    }

    /// The authorities of the system only.
    public static let system = OutboundAuthorities(additional: [])

    private let additional: [NIOSSLCertificate]

    private init(additional: [NIOSSLCertificate]) { self.additional = additional }

    /// Parses PEM certificates (RFC 7468 §5); throws `Refusal` if the text contains a private key or no valid
    /// certificate.
    ///
    /// The certificates are trusted in addition to the authorities of the system.
    public init(pem text: String) throws(Refusal) { additional = try Self.certificates(in: text) }

    /// Parses PEM certificates, with the same errors.
    package static func certificates(in text: String) throws(Refusal) -> [NIOSSLCertificate] {
        guard !text.contains("PRIVATE KEY-----") else {
            throw Refusal(description: "it contains a private key; it must contain certificates only")
        }
        let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")
        let blocks = text.split(separator: begin, omittingEmptySubsequences: false).dropFirst()
        guard !blocks.isEmpty else {
            throw Refusal(description: "it contains no PEM certificate (\(begin))")
        }
        var certificates: [NIOSSLCertificate] = []
        for (number, block) in zip(1..., blocks) {
            guard let end = block.range(of: end),
                let certificate = try? NIOSSLCertificate(
                    bytes: Array((begin + block[..<end.upperBound] + "\n").utf8), format: .pem)
            else { throw Refusal(description: "certificate \(number) is invalid") }
            certificates.append(certificate)
        }
        return certificates
    }

    /// The time for which the end of a connection waits for the other side (RFC 8446 §6.1).
    ///
    /// A request ends with its connection, so a host that does not answer the end would hold the place of the request.
    static let closingTime = TimeAmount.milliseconds(100)

    /// The TLS configuration of a connection.
    ///
    /// The server certificate must be valid for the host name.
    var tls: TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.shutdownTimeout = Self.closingTime
        if !additional.isEmpty { tls.additionalTrustRoots = [.certificates(additional)] }
        return tls
    }
}
