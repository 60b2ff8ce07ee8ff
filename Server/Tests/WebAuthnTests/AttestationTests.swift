import Crypto
import CryptoExtras
import Foundation
import SwiftASN1
import Testing
import WebAuthn
import X509

/// Attestation statements (WebAuthn §8.2, §8.7) with a certificate of a test.
struct AttestationTests {
    private let authenticator: TestAuthenticator
    private let certificateKey = P256.Signing.PrivateKey()

    init() {
        var authenticator = TestAuthenticator()
        authenticator.aaguid = Array(1...16)
        self.authenticator = authenticator
    }

    private func outcome(
        _ format: String, _ statement: (_ signed: [UInt8]) throws -> CBORValue
    ) -> Result<Attestation, CeremonyRefusal> {
        do {
            let ceremony = RegistrationCeremony(
                relyingParty: TestAuthenticator.relyingParty, challenge: TestAuthenticator.challenge,
                requiresUserVerification: true, algorithms: COSEAlgorithm.offered)
            return .success(
                try ceremony.verify(authenticator.registration(format, statement: statement)).attestation)
        } catch let refusal as CeremonyRefusal {
            return .failure(refusal)
        } catch {
            Issue.record(error)
            return .success(.none)
        }
    }

    private func fault(
        _ format: String = "packed", _ statement: (_ signed: [UInt8]) throws -> CBORValue
    ) -> Attestation.Fault? {
        guard case .failure(let refusal) = outcome(format, statement) else { return nil }
        guard case .attestation(let fault) = refusal.reason else {
            Issue.record("\(refusal)")
            return nil
        }
        #expect(refusal.step == 22)
        return fault
    }

    private func statement(_ algorithm: Int, _ signature: [UInt8], _ chain: [[UInt8]]? = nil) -> CBORValue {
        let statement: CBORValue = .map([.text("alg"): .integer(algorithm), .text("sig"): .bytes(signature)])
        guard let chain else { return statement }
        return statement.setting([.text("x5c"): .array(chain.map(CBORValue.bytes))])
    }

    /// A statement that the key of a certificate has signed.
    private func certified(_ signed: [UInt8], by certificate: [UInt8]) throws -> CBORValue {
        statement(-7, Array(try certificateKey.signature(for: signed).derRepresentation), [certificate])
    }

    private func certificate(
        version: Certificate.Version = .v3, publicKey: Certificate.PublicKey? = nil, country: String? = "SE",
        organization: String? = "Vendor", unit: String? = "Authenticator Attestation", name: String? = "Model",
        isAuthority: Bool? = false, aaguid: [UInt8]? = nil, critical: Bool = false
    ) throws -> [UInt8] {
        var parts: [RelativeDistinguishedName] = []
        func add(_ type: ASN1ObjectIdentifier, _ text: String?) throws {
            guard let text else { return }
            parts.append(.init(try .init(type: type, printableString: text)))
        }
        try add(.RDNAttributeType.countryName, country)
        try add(.RDNAttributeType.organizationName, organization)
        try add(.RDNAttributeType.organizationalUnitName, unit)
        try add(.RDNAttributeType.commonName, name)
        var extensions = Certificate.Extensions()
        if let isAuthority {
            let constraints: BasicConstraints =
                isAuthority ? .isCertificateAuthority(maxPathLength: nil) : .notCertificateAuthority
            try extensions.append(Certificate.Extension(constraints, critical: true))
        }
        if let aaguid {
            var serializer = DER.Serializer()
            try serializer.serialize(ASN1OctetString(contentBytes: aaguid[...]))
            try extensions.append(
                .init(
                    oid: [1, 3, 6, 1, 4, 1, 45724, 1, 1, 4], critical: critical,
                    value: serializer.serializedBytes[...]))
        }
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let subject = DistinguishedName(parts)
        let certificate = try Certificate(
            version: version, serialNumber: .init(), publicKey: publicKey ?? .init(certificateKey.publicKey),
            notValidBefore: now, notValidAfter: now + 3600, issuer: subject, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: extensions, issuerPrivateKey: .init(certificateKey))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    // WebAuthn §8.7.
    @Test func `none has an empty statement`() {
        #expect(fault("none") { _ in .map([.text("alg"): .integer(-7)]) } == .malformed)
        #expect(fault("none") { _ in .null } == .malformed)
    }

    // WebAuthn §8.1: the server requests no attestation, so other formats are no reason to refuse a passkey.
    @Test func `a statement of another format is kept unread`() throws {
        for name in ["apple", "fido-u2f", "tpm", "android-key", "example.com-2", "Packed"] {
            let format = try #require(AttestationFormat(rawValue: name))
            #expect(outcome(name) { _ in .map([.text("x"): .null]) } == .success(.unread(format)))
        }
        // A statement of the format compound with certificates is the deepest one (WebAuthn §8.9).
        let compound = try #require(AttestationFormat(rawValue: "compound"))
        let part: CBORValue = .map([.text("attStmt"): .map([.text("x5c"): .array([.bytes([1])])])])
        #expect(outcome("compound") { _ in .array([part, part]) } == .success(.unread(compound)))
    }

    // WebAuthn §8.2.
    @Test func `a self attestation is verified by the key of the credential`() {
        #expect(outcome("packed") { try statement(-7, authenticator.key.signature(for: $0)) } == .success(.selfSigned))
        #expect(fault { try statement(-35, authenticator.key.signature(for: $0)) } == .otherAlgorithm)
        let other = P256.Signing.PrivateKey()
        #expect(fault { statement(-7, Array(try other.signature(for: $0).derRepresentation)) } == .signature)
        #expect(fault { try statement(-7, authenticator.key.signature(for: $0 + [0])) } == .signature)
    }

    // WebAuthn §8.2 step 1.
    @Test func `a statement without its members is refused`() {
        let complete = statement(-7, [1])
        #expect(fault { _ in .array([]) } == .malformed)
        for name in ["alg", "sig"] { #expect(fault { _ in complete.setting([.text(name): nil]) } == .malformed) }
        for chain: CBORValue in [.array([]), .bytes([1]), .null, .array([.text("a")]), .array([.bytes([1]), .null])] {
            #expect(fault { _ in complete.setting([.text("x5c"): chain]) } == .malformed)
        }
        let long: CBORValue = .array(Array(repeating: .bytes([1]), count: 9))
        #expect(fault { _ in complete.setting([.text("x5c"): long]) } == .malformed)
        #expect(fault { _ in statement(-7, [1], [[1, 2, 3]]) } == .certificateMalformed)
    }

    // WebAuthn §8.2 step 2.
    @Test func `a statement is verified by the key of its certificate`() throws {
        for aaguid in [nil, authenticator.aaguid] {
            let certificate = try certificate(aaguid: aaguid)
            let outcome = outcome("packed") { try certified($0, by: certificate) }
            guard case .success(.certificate(let certificates)) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(certificates.chain == [certificate])
        }
        let certificate = try certificate()
        #expect(fault { try statement(-7, authenticator.key.signature(for: $0), [certificate]) } == .signature)
        for algorithm in [-8, -35, -36, -257, -53] {
            #expect(
                fault { try certified($0, by: certificate).setting([.text("alg"): .integer(algorithm)]) }
                    == .unusableCertificateKey)
        }
    }

    // WebAuthn §8.2 step 2.
    @Test func `the key of a certificate is used with its own algorithm only`() throws {
        let keys = try TestAuthenticator.Key.all()
        for key in keys {
            let certificate = try certificate(publicKey: key.certified)
            for algorithm in keys.map(\.algorithm) {
                let outcome = outcome("packed") {
                    try statement(Int(algorithm.rawValue), key.signature(for: $0), [certificate])
                }
                switch outcome {
                case .success(.certificate): #expect(algorithm == key.algorithm)
                case .failure(let refusal):
                    #expect(algorithm != key.algorithm)
                    #expect(refusal.reason == .attestation(.unusableCertificateKey))
                default: Issue.record("\(outcome)")
                }
            }
        }
        // The identity, for which this signature is valid for any bytes.
        let identity = [1] + Array<UInt8>(repeating: 0, count: 31)
        let weak = try Curve25519.Signing.PublicKey(rawRepresentation: identity)
        let certificate = try certificate(publicKey: .init(weak))
        let signature = identity + Array(repeating: 0, count: 32)
        #expect(fault { _ in statement(-8, signature, [certificate]) } == .unusableCertificateKey)
    }

    // WebAuthn §8.2.1.
    @Test func `a certificate that violates a requirement is refused`() throws {
        let certificates: [(Attestation.Fault, [UInt8])] = [
            (.certificateRequirement(.version), try certificate(version: .v1)),
            (.certificateRequirement(.country), try certificate(country: nil)),
            (.certificateRequirement(.country), try certificate(country: "SWE")),
            (.certificateRequirement(.organization), try certificate(organization: nil)),
            (.certificateRequirement(.organizationalUnit), try certificate(unit: nil)),
            (.certificateRequirement(.organizationalUnit), try certificate(unit: "Another")),
            (.certificateRequirement(.commonName), try certificate(name: nil)),
            (.certificateRequirement(.basicConstraints), try certificate(isAuthority: nil)),
            (.certificateRequirement(.basicConstraints), try certificate(isAuthority: true)),
            (.certificateRequirement(.aaguidExtension), try certificate(aaguid: authenticator.aaguid, critical: true)),
            (.otherAAGUID, try certificate(aaguid: Array(2...17))),
            (.otherAAGUID, try certificate(aaguid: [])),
        ]
        for (expected, certificate) in certificates {
            #expect(fault { try certified($0, by: certificate) } == expected)
        }
    }
}

extension TestAuthenticator.Key {
    /// The public key in the form of certificates.
    fileprivate var certified: Certificate.PublicKey {
        switch self {
        case .es256(let key): .init(key.publicKey)
        case .es384(let key): .init(key.publicKey)
        case .es512(let key): .init(key.publicKey)
        case .edDSA(let key): .init(key.publicKey)
        case .rs256(let key): .init(key.publicKey)
        }
    }
}
