import CounterfoilProtocol
import Foundation
import Testing
import WebAuthn

/// The test vectors of WebAuthn §16 (Level 3).
struct VectorTests {
    /// One registration and one authentication with its credential; the bytes are in hexadecimal.
    struct Vector: Decodable, CustomTestStringConvertible {
        let name: String
        let registration: [String: String]
        let authentication: [String: String]

        var testDescription: String { name }

        func registered(_ name: String) -> [UInt8] { Self.bytes(registration[name]) }
        func authenticated(_ name: String) -> [UInt8] { Self.bytes(authentication[name]) }

        private static func bytes(_ text: String?) -> [UInt8] { [UInt8](hexadecimal: text ?? "") }
    }

    static let all: [Vector] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Vectors/vectors.json")
        return (try? JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))) ?? []
    }()
    /// The vectors of a page in a frame, which this server refuses.
    static let framed = all.filter { $0.name.hasSuffix("Origin") }
    static let verified = all.filter { $0.name != "packed-ed448" && !$0.name.hasSuffix("Origin") }
    /// The formats that this module does not read.
    private static let unread = ["tpm", "android-key", "apple", "fido-u2f"]

    private static let relyingParty = RelyingParty(id: "example.org", origins: ["https://example.org"])
    private static let algorithms = COSEAlgorithm.offered + [.es512]

    private func register(
        _ vector: Vector, object: [UInt8]? = nil, clientData: [UInt8]? = nil
    ) throws -> NewCredential {
        let response = try TestAuthenticator.registration(
            clientData: clientData ?? vector.registered("clientDataJSON"),
            object: object ?? vector.registered("attestationObject"), id: vector.registered("credential_id"))
        let challenge = try #require(Challenge(vector.registered("challenge")))
        return try RegistrationCeremony(
            relyingParty: Self.relyingParty, challenge: challenge, requiresUserVerification: false,
            algorithms: Self.algorithms
        ).verify(response)
    }

    private func authenticate(
        _ vector: Vector, with credential: StoredCredential, changing name: String? = nil, at index: Int = 0
    ) throws -> VerifiedAssertion {
        func bytes(_ member: String) -> [UInt8] {
            var bytes = vector.authenticated(member)
            if member == name { bytes[index] ^= 1 }
            return bytes
        }
        let response = try TestAuthenticator.assertion(
            clientData: bytes("clientDataJSON"), data: bytes("authenticatorData"), signature: bytes("signature"),
            id: vector.registered("credential_id"), userHandle: TestAuthenticator.user)
        let challenge = try #require(Challenge(vector.authenticated("challenge")))
        return try AuthenticationCeremony(
            relyingParty: Self.relyingParty, challenge: challenge, requiresUserVerification: false,
            allowedCredentials: [], user: nil
        ).verify(response, with: credential)
    }

    private func stored(_ credential: NewCredential) throws -> StoredCredential {
        StoredCredential(
            id: credential.id, publicKey: try CredentialPublicKey(coseBytes: credential.publicKey.coseBytes),
            signatureCounter: credential.signatureCounter, userHandle: TestAuthenticator.user,
            isBackupEligible: credential.isBackupEligible)
    }

    // WebAuthn §16.
    @Test func `there are 15 vectors`() {
        #expect(Self.all.count == 15 && Self.framed.count == 2 && Self.verified.count == 12)
    }

    // WebAuthn §7.1, §7.2, §16.
    @Test(arguments: verified)
    func `a vector registers and authenticates`(vector: Vector) throws {
        let credential = try register(vector)
        #expect(credential.id.bytes == vector.registered("credential_id"))
        #expect(credential.aaguid.bytes == vector.registered("aaguid"))
        switch credential.attestation {
        case .none: #expect(vector.name.hasPrefix("none"))
        case .selfSigned: #expect(vector.name == "packed-self-es256")
        case .certificate(let certificates):
            #expect(vector.name.hasPrefix("packed-") && certificates.chain.count == 1)
        case .unread(let format):
            #expect(Self.unread.contains(format.rawValue) && vector.name.hasPrefix(format.rawValue))
        }
        let assertion = try authenticate(vector, with: stored(credential))
        #expect(assertion.credentialID == credential.id && !assertion.counterWentBack)
        #expect(assertion.isBackupEligible == credential.isBackupEligible)
    }

    // WebAuthn §7.1 step 20.
    @Test func `a key of an algorithm that was not offered is refused`() throws {
        let vector = try #require(Self.all.first { $0.name == "packed-ed448" })
        #expect(refusal { try register(vector) }?.reason == .algorithm)
    }

    // WebAuthn §7.2 step 21.
    @Test(arguments: verified)
    func `an assertion of a vector is refused after any change`(vector: Vector) throws {
        let credential = try stored(register(vector))
        for name in ["authenticatorData", "clientDataJSON", "signature"] {
            for index in stride(from: 0, to: vector.authenticated(name).count, by: name == "clientDataJSON" ? 7 : 2) {
                let refusal = refusal { try authenticate(vector, with: credential, changing: name, at: index) }
                #expect(refusal != nil, "\(name) at \(index)")
            }
        }
    }

    // WebAuthn §8.2.
    @Test(arguments: verified.filter { $0.name.hasPrefix("packed") })
    func `a packed attestation of a vector is refused after any change of what it signs`(vector: Vector) throws {
        let object = vector.registered("attestationObject")
        // The authenticator data are the last member.
        let start = try #require(object.lastIndex(ofSequence: Array("authData".utf8)))
        for index in stride(from: start + 10, to: object.count, by: 5) {
            var changed = object
            changed[index] ^= 1
            #expect(refusal { try register(vector, object: changed) } != nil, "at \(index)")
        }
        // A member more is no error of the client data, but of the signature.
        let clientData = vector.registered("clientDataJSON")
        let longer = Array(clientData.dropLast()) + Array(#","a":1}"#.utf8)
        #expect(refusal { try register(vector, clientData: longer) }?.reason == .attestation(.signature))
    }

    // WebAuthn §7.1 step 10, §7.2 step 13.
    @Test(arguments: framed)
    func `a vector of a page in a frame is refused`(vector: Vector) throws {
        let registration = refusal { try register(vector) }
        #expect(registration?.reason == .crossOrigin && registration?.step == 10)
        // The client data are verified before the signature.
        var authenticator = TestAuthenticator()
        authenticator.credentialID = vector.registered("credential_id")
        let credential = try authenticator.stored()
        let authentication = refusal { try authenticate(vector, with: credential) }
        #expect(authentication?.reason == .crossOrigin && authentication?.step == 13)
    }
}

extension [UInt8] {
    fileprivate func lastIndex(ofSequence bytes: [UInt8]) -> Int? {
        indices.last { self[$0...].starts(with: bytes) }
    }
}
