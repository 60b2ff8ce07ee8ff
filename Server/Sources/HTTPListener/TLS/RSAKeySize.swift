import NIOSSL
import SwiftASN1

/// The size of an RSA key in a certificate that the parser of certificates refuses because of it.
enum RSAKeySize {
    /// Returns the number of bits of the modulus (RFC 8017 §A.1.1); nil if the certificate has another key.
    static func bits(inCertificate pem: String) -> Int? {
        guard let certificate = try? NIOSSLCertificate(bytes: Array(pem.utf8), format: .pem),
            let key = try? certificate.extractPublicKey().toSPKIBytes(), let modulus = try? modulus(of: key)
        else { return nil }
        let digits = modulus.drop { $0 == 0 }
        return digits.first.map { digits.count * 8 - $0.leadingZeroBitCount }
    }

    /// Reads the modulus of a `SubjectPublicKeyInfo` (RFC 5280 §4.1).
    private static func modulus(of key: [UInt8]) throws -> ArraySlice<UInt8>? {
        let encoded = try DER.sequence(try DER.parse(key), identifier: .sequence) { nodes -> ASN1BitString? in
            let algorithm = nodes.next()
            let bits = try ASN1BitString(derEncoded: &nodes)
            return try isRSA(algorithm) ? bits : nil
        }
        guard let encoded else { return nil }
        return try DER.sequence(try DER.parse(encoded.bytes), identifier: .sequence) { nodes in
            let modulus = try ArraySlice<UInt8>(derEncoded: &nodes)
            _ = nodes.next()
            return modulus
        }
    }

    private static func isRSA(_ algorithm: ASN1Node?) throws -> Bool {
        guard let algorithm else { return false }
        return try DER.sequence(algorithm, identifier: .sequence) { nodes in
            let identifier = try ASN1ObjectIdentifier(derEncoded: &nodes)
            _ = nodes.next()
            return identifier == [1, 2, 840, 113_549, 1, 1, 1]
        }
    }
}
