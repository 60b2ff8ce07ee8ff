package import Crypto
package import Foundation
import NIOCore
package import NIOSSL
import SwiftASN1
package import X509

/// The certificate that answers a challenge of the type `tls-alpn-01` (RFC 8737 §3).
package enum ChallengeCertificate {
    /// The only protocol with which the certificate is used (RFC 8737 §6.2).
    package static let applicationProtocol = "acme-tls/1"

    /// The extension with the digest of the key authorization, `id-pe-acmeIdentifier` (RFC 8737 §3 and §6.1).
    package static func identifier(of keyAuthorization: String) throws -> Certificate.Extension {
        var serializer = DER.Serializer()
        let digest = SHA256.hash(data: Array(keyAuthorization.utf8))
        try serializer.serialize(ASN1OctetString(contentBytes: Array(digest)[...]))
        return Certificate.Extension(
            oid: [1, 3, 6, 1, 5, 5, 7, 1, 31], critical: true, value: serializer.serializedBytes[...])
    }

    /// Creates the certificate for a challenge, with a key of its own.
    package static func make(
        for host: String, keyAuthorization: String, at now: Date
    ) throws -> (certificate: Certificate, key: P256.Signing.PrivateKey) {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("ACME challenge") }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
            notValidBefore: now.addingTimeInterval(-3600), notValidAfter: now.addingTimeInterval(86_400), issuer: name,
            subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                SubjectAlternativeNames([.dnsName(host)])
                try Self.identifier(of: keyAuthorization)
            },
            issuerPrivateKey: .init(key))
        return (certificate, key)
    }

    /// Returns the TLS context that answers a challenge, and accepts the protocol of challenges only.
    package static func context(for host: String, keyAuthorization: String, at now: Date) throws -> NIOSSLContext {
        let (certificate, key) = try make(for: host, keyAuthorization: keyAuthorization, at: now)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [
                .certificate(try NIOSSLCertificate(bytes: serializer.serializedBytes, format: .der))
            ],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.pemRepresentation.utf8), format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = [applicationProtocol]
        configuration.shutdownTimeout = .seconds(1)
        return try NIOSSLContext(configuration: configuration)
    }
}
