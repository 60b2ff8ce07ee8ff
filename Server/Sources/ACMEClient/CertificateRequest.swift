package import Crypto
import Foundation
import SwiftASN1
import X509

/// A request for a certificate (RFC 2986) with a new key on P-256.
package struct CertificateRequest: Sendable {
    /// The request in DER.
    package let der: [UInt8]
    /// The key in PEM format.
    package let key: String

    /// Creates a request for some hosts; `key` is a new one by default.
    package init(for hosts: [String], key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()) throws {
        let extensions = try Certificate.Extensions {
            SubjectAlternativeNames(hosts.map { .dnsName($0) })
        }
        let request = try CertificateSigningRequest(
            version: .v1, subject: DistinguishedName(), privateKey: .init(key),
            attributes: CertificateSigningRequest.Attributes([
                .init(ExtensionRequest(extensions: extensions))
            ]),
            signatureAlgorithm: .ecdsaWithSHA256)
        var serializer = DER.Serializer()
        try serializer.serialize(request)
        der = serializer.serializedBytes
        self.key = key.pemRepresentation + "\n"
    }
}
