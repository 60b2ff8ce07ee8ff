import Foundation
import SwiftASN1
import X509

/// A statement of the format `packed` (WebAuthn §8.2).
struct PackedAttestation {
    /// The maximum number of certificates.
    private static let chainLimit = 8

    private let algorithm: COSEAlgorithm
    private let signature: [UInt8]
    /// The certificates in DER; nil if the statement is a self attestation.
    private let chain: [[UInt8]]?

    /// Reads a statement (step 1).
    init(_ statement: CBORValue) throws(Attestation.Fault) {
        guard let members = statement.members, let algorithm = members[.key("alg")]?.integer,
            let signature = members[.key("sig")]?.bytes
        else { throw .malformed }
        self.algorithm = COSEAlgorithm(rawValue: algorithm)
        self.signature = signature
        switch members[.key("x5c")] {
        case nil: chain = nil
        case .array(let certificates):
            let chain = certificates.compactMap(\.bytes)
            guard (1...Self.chainLimit).contains(chain.count), chain.count == certificates.count else {
                throw .malformed
            }
            self.chain = chain
        default: throw .malformed
        }
    }

    /// Verifies the signature over some bytes and the certificate (steps 2 and 3).
    ///
    /// The validity period of the certificate, its revocation, the other certificates of the chain and the issuer are
    /// not verified.
    func verify(
        _ signed: [UInt8], of credential: AttestedCredentialData, key: CredentialPublicKey
    ) throws(Attestation.Fault) -> Attestation {
        guard let chain, let first = chain.first else {
            guard algorithm == key.algorithm else { throw .otherAlgorithm }
            guard key.isValidSignature(signature, for: signed) else { throw .signature }
            return .selfSigned
        }
        guard let certificate = try? Certificate(derEncoded: first) else { throw .certificateMalformed }
        guard let key = SignatureKey(certificate.publicKey, algorithm: algorithm) else { throw .unusableCertificateKey }
        guard key.isValidSignature(signature, for: signed) else { throw .signature }
        try Self.checkRequirements(certificate)
        try Self.check(credential.aaguid, of: certificate)
        return .certificate(.init(chain: chain))
    }

    /// Checks the requirements of WebAuthn §8.2.1.
    ///
    /// The types of the strings are not compared, because there are certificates with others.
    private static func checkRequirements(_ certificate: Certificate) throws(Attestation.Fault) {
        guard certificate.version == .v3 else { throw .certificateRequirement(.version) }
        var names: [ASN1ObjectIdentifier: [String]] = [:]
        for part in certificate.subject {
            for attribute in part {
                names[attribute.type, default: []].append(String(attribute.value) ?? "")
            }
        }
        func name(_ type: ASN1ObjectIdentifier) -> String? { names[type]?.first { !$0.isEmpty } }
        guard name(.RDNAttributeType.countryName)?.utf8.count == 2 else { throw .certificateRequirement(.country) }
        guard name(.RDNAttributeType.organizationName) != nil else { throw .certificateRequirement(.organization) }
        guard names[.RDNAttributeType.organizationalUnitName]?.contains("Authenticator Attestation") == true else {
            throw .certificateRequirement(.organizationalUnit)
        }
        guard name(.RDNAttributeType.commonName) != nil else { throw .certificateRequirement(.commonName) }
        guard let constraints = try? certificate.extensions.basicConstraints, constraints == .notCertificateAuthority
        else { throw .certificateRequirement(.basicConstraints) }
    }

    /// `id-fido-gen-ce-aaguid`.
    private static let aaguidExtension: ASN1ObjectIdentifier = [1, 3, 6, 1, 4, 1, 45724, 1, 1, 4]

    private static func check(_ aaguid: AAGUID, of certificate: Certificate) throws(Attestation.Fault) {
        guard let found = certificate.extensions[oid: aaguidExtension] else { return }
        guard !found.critical, let value = try? ASN1OctetString(derEncoded: Array(found.value)) else {
            throw .certificateRequirement(.aaguidExtension)
        }
        guard aaguid.bytes.elementsEqual(value.bytes) else { throw .otherAAGUID }
    }
}
