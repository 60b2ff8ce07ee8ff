import Crypto
package import Foundation
package import NIOSSL
import SwiftASN1
package import X509

/// A certificate authority of a test, which issues certificates for test hosts (RFC 5280 §4.1).
package struct TestAuthority: Sendable {
    /// A certificate in PEM format, and its key.
    package struct Issued: Sendable {
        package let certificate: String
        package let key: String
    }

    private let key: Certificate.PrivateKey
    private let certificate: Certificate

    /// Creates a root, or an intermediate authority that another one has certified.
    ///
    /// - Parameters:
    ///   - name: The common name.
    ///   - issuer: The authority that certifies this one; nil for a root.
    ///   - issuerAddress: The URL of the certificate of the issuer, in the extension `authorityInfoAccess`.
    ///   - constraints: The extension `basicConstraints`; nil for none.
    ///   - usage: The extension `keyUsage`.
    package init(
        _ name: String = "Test Authority", certifiedBy issuer: TestAuthority? = nil, issuerAddress: String? = nil,
        constraints: BasicConstraints? = .isCertificateAuthority(maxPathLength: nil),
        usage: KeyUsage = KeyUsage(keyCertSign: true)
    ) throws {
        key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let subject = try Self.name(name)
        certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: key.publicKey, notValidBefore: Date() - 86_400,
            notValidAfter: Date() + 86_400 * 30, issuer: issuer?.certificate.subject ?? subject, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                if let constraints { Critical(constraints) }
                Critical(usage)
                if let issuerAddress {
                    AuthorityInformationAccess([
                        .init(method: .issuingCA, location: .uniformResourceIdentifier(issuerAddress))
                    ])
                }
            },
            issuerPrivateKey: issuer?.key ?? key)
    }

    /// The certificate of the authority in PEM format.
    package var pem: String { get throws { try certificate.serializeAsPEM().pemString + "\n" } }

    /// Issues a certificate for some hosts.
    ///
    /// - Parameters:
    ///   - hosts: The host names in the certificate.
    ///   - addresses: The IP addresses in it, in network byte order.
    ///   - start: The beginning of its validity.
    ///   - end: The end of its validity.
    ///   - usage: The purposes in the extension `extKeyUsage`.
    ///   - issuerAddress: The URL of the certificate of this authority, in the extension `authorityInfoAccess`.
    ///   - given: The private key in PEM format; nil for a new one for ECDSA.
    package func issue(
        for hosts: [String], addresses: [[UInt8]] = [], from start: Date = Date() - 3600,
        until end: Date = Date() + 86_400, usage: [ExtendedKeyUsage.Usage] = [.serverAuth],
        issuerAddress: String? = nil, key given: String? = nil
    ) throws -> Issued {
        let own = given ?? P256.Signing.PrivateKey().pemRepresentation
        let names =
            hosts.map { GeneralName.dnsName($0) }
            + addresses.map { .ipAddress(ASN1OctetString(contentBytes: $0[...])) }
        let issued = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: try Certificate.PrivateKey(pemEncoded: own).publicKey,
            notValidBefore: start, notValidAfter: end, issuer: certificate.subject,
            subject: try Self.name(hosts.first ?? "server"),
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                SubjectAlternativeNames(names)
                try ExtendedKeyUsage(usage)
                if let issuerAddress {
                    AuthorityInformationAccess([
                        .init(method: .issuingCA, location: .uniformResourceIdentifier(issuerAddress))
                    ])
                }
            },
            issuerPrivateKey: key)
        return Issued(certificate: try issued.serializeAsPEM().pemString + "\n", key: own + "\n")
    }

    /// Issues a certificate for the key of a request (RFC 2986), with the names that the request asks for.
    ///
    /// - Parameters:
    ///   - request: The request in DER.
    ///   - hosts: The hosts that the certificate names in place of those of the request; nil for those of the request.
    ///   - key: The key that the certificate contains in place of that of the request; nil for that of the request.
    ///   - start: The beginning of its validity.
    ///   - end: The end of its validity.
    package func certify(
        _ request: [UInt8], naming hosts: [String]? = nil, for key: Certificate.PublicKey? = nil,
        from start: Date = Date() - 3600, until end: Date = Date() + 90 * 86_400
    ) throws -> String {
        let request = try CertificateSigningRequest(derEncoded: request)
        let requested = try request.attributes.extensionRequest?.extensions.subjectAlternativeNames
        let names = hosts.map { SubjectAlternativeNames($0.map { .dnsName($0) }) } ?? requested
        let issued = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: key ?? request.publicKey, notValidBefore: start,
            notValidAfter: end, issuer: certificate.subject, subject: DistinguishedName(),
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                if let names { Critical(names) }
                try ExtendedKeyUsage([.serverAuth])
                AuthorityKeyIdentifier(keyIdentifier: [1, 2, 3, 4][...])
            },
            issuerPrivateKey: self.key)
        return try issued.serializeAsPEM().pemString + "\n"
    }

    /// Returns the TLS context of a server with a certificate for a host name.
    package func serverContext(for host: String) throws -> NIOSSLContext {
        let issued = try issue(for: [host])
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [
                .certificate(try NIOSSLCertificate(bytes: Array(issued.certificate.utf8), format: .pem))
            ],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(issued.key.utf8), format: .pem)))
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    private static func name(_ text: String) throws -> DistinguishedName {
        try DistinguishedName { CommonName(text) }
    }
}
