package import NIOSSL

/// The settings with which a certificate is ordered from an authority.
package struct ACMESettings: Sendable {
    /// A type of challenge (RFC 8555 §8).
    package enum Challenge: String, Sendable, CaseIterable {
        /// The listener for TLS answers (RFC 8737).
        case tls = "tls-alpn-01"
        /// The listener for plain http answers (RFC 8555 §8.3).
        case http = "http-01"
    }

    /// The URL of the directory of the authority.
    package var directory: AuthorityURL
    /// The email address for messages of the authority.
    package var contact: String
    /// The hosts that the certificate names, without duplicates.
    package let hosts: [String]
    /// The certificates of the authorities that may have certified the authority itself; nil for those of the system.
    package var roots: [NIOSSLCertificate]?
    package var externalAccount: ExternalAccount?
    package var challenge: Challenge

    package init(
        directory: AuthorityURL, contact: String, hosts: [String], roots: [NIOSSLCertificate]? = nil,
        externalAccount: ExternalAccount? = nil, challenge: Challenge = .tls
    ) {
        self.directory = directory
        self.contact = contact
        self.hosts = hosts.map { $0.lowercased() }.reduce(into: []) { hosts, host in
            if !hosts.contains(host) { hosts.append(host) }
        }
        self.roots = roots
        self.externalAccount = externalAccount
        self.challenge = challenge
    }

    /// Returns true if a certificate of an authority can name a host: it is a host name and no IP address.
    package static func canName(_ host: String) -> Bool {
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard host.utf8.count <= 253, let last = labels.last?.first, last > UInt8(ascii: "9") else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.count)
                && label.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                        UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
        }
    }
}
