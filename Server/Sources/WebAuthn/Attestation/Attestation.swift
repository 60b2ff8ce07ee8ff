/// The result of the attestation statement of a registration (WebAuthn §6.5.3).
///
/// No case proves the model of the authenticator: that would need the certificates of its vendor as trust anchors
/// (WebAuthn §7.1 steps 23 and 24). The server requests no attestation, so ``none`` is the usual case.
package enum Attestation: Sendable, Hashable {
    /// There is no statement (`none`).
    case none
    /// The key of the credential has signed the statement (`packed`, self attestation), so the authenticator has the
    /// private key.
    case selfSigned
    /// The key of a certificate has signed the statement (`packed` with `x5c`). Its issuer was not checked.
    case certificate(Certificates)
    /// The statement has a format that this module does not read.
    case unread(AttestationFormat)

    /// The certificates of a statement (`x5c`) in DER, that of the authenticator first.
    package struct Certificates: Sendable, Hashable {
        /// The certificates, of which only the first one was parsed.
        package let chain: [[UInt8]]
    }

    /// The reason why a statement is not valid for its format.
    package enum Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The statement has not the form of its format.
        case malformed
        /// The algorithm of a self attestation is not that of the credential.
        case otherAlgorithm
        /// The algorithm of the statement does not fit the key of the certificate, or is unknown.
        case unusableCertificateKey
        /// The first certificate cannot be parsed.
        case certificateMalformed
        /// The first certificate violates WebAuthn §8.2.1.
        case certificateRequirement(CertificateRequirement)
        /// The certificate is for authenticators with another AAGUID.
        case otherAAGUID
        /// The signature is not valid.
        case signature

        /// An explanation that contains no part of the statement.
        package var description: String {
            switch self {
            case .malformed: "the attestation statement does not have the form of its format"
            case .otherAlgorithm: "the self attestation has another algorithm than the credential"
            case .unusableCertificateKey: "the algorithm of the attestation does not fit the key of its certificate"
            case .certificateMalformed: "the attestation certificate cannot be parsed"
            case .certificateRequirement(let requirement):
                "the attestation certificate violates WebAuthn §8.2.1 (\(requirement.rawValue))"
            case .otherAAGUID: "the attestation certificate is for another AAGUID"
            case .signature: "the signature of the attestation is not valid"
            }
        }
    }

    /// A requirement of WebAuthn §8.2.1.
    package enum CertificateRequirement: String, Sendable, Hashable {
        case version, country, organization, organizationalUnit, commonName, basicConstraints, aaguidExtension
    }

    /// Verifies the statement of an attestation object (WebAuthn §7.1 steps 21 and 22).
    ///
    /// - Parameters:
    ///   - object: The attestation object.
    ///   - credential: The credential in its authenticator data.
    ///   - key: The public key of the credential.
    ///   - clientDataHash: The SHA-256 hash of the client data.
    static func verify(
        _ object: AttestationObject, of credential: AttestedCredentialData, key: CredentialPublicKey,
        clientDataHash: [UInt8]
    ) throws(Fault) -> Attestation {
        switch object.format.rawValue {
        case "none":
            guard object.statement == .map([:]) else { throw .malformed }
            return .none
        case "packed":
            let statement = try PackedAttestation(object.statement)
            return try statement.verify(object.authenticatorData + clientDataHash, of: credential, key: key)
        default: return .unread(object.format)
        }
    }
}
