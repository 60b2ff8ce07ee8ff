import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// The certificate of a server that waits for its first one from an authority.
///
/// It is signed by itself and names no host, so a client that verifies certificates refuses it. It is for health checks
/// on the same machine, which do not verify: they would stop the server otherwise before it has a certificate. Each
/// process makes its own, and it is never stored.
enum ProvisionalCertificate {
    /// Creates the TLS context, with a key of its own.
    ///
    /// - Parameters:
    ///   - name: The name in the certificate, for people who look at it.
    ///   - now: The current time.
    static func context(named name: String, at now: Date = Date()) throws -> NIOSSLContext {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName(name) }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
            notValidBefore: now.addingTimeInterval(-3600), notValidAfter: now.addingTimeInterval(7 * 86_400),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: Certificate.Extensions(), issuerPrivateKey: .init(key))
        let chain = try certificate.serializeAsPEM().pemString
        return try ServerCertificate.context(chain, key.pemRepresentation)
    }
}
