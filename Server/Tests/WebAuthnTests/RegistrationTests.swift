import Crypto
import Testing
import WebAuthn

/// The result and the refusals of a registration (WebAuthn §7.1).
struct RegistrationTests {
    private typealias Reason = CeremonyRefusal.Reason

    private func verify(
        _ response: RegistrationResponse, party: RelyingParty = TestAuthenticator.relyingParty,
        userVerification: Bool = true, userPresence: Bool = true,
        algorithms: [COSEAlgorithm] = COSEAlgorithm.offered + [.es512]
    ) throws -> NewCredential {
        try RegistrationCeremony(
            relyingParty: party, challenge: TestAuthenticator.challenge, requiresUserVerification: userVerification,
            requiresUserPresence: userPresence, algorithms: algorithms
        ).verify(response)
    }

    /// Checks that a response of a changed authenticator is refused for a reason at a step.
    private func expect(
        _ reason: Reason, step: Int, _ location: SourceLocation = #_sourceLocation,
        change: (inout TestAuthenticator) -> Void
    ) {
        var authenticator = TestAuthenticator()
        change(&authenticator)
        let refused = refusal { try verify(authenticator.registration()) }
        #expect(refused?.reason == reason, sourceLocation: location)
        #expect(refused?.step == step && refused?.ceremony == .registration, sourceLocation: location)
    }

    // WebAuthn §7.1 step 27.
    @Test func `a credential has what the authenticator says`() throws {
        for key in try TestAuthenticator.Key.all() {
            var authenticator = TestAuthenticator(key)
            authenticator.counter = 0x0102_0304
            authenticator.aaguid = Array(1...16)
            let credential = try verify(authenticator.registration())
            #expect(credential.id.bytes == authenticator.credentialID)
            #expect(credential.publicKey.algorithm == key.algorithm)
            #expect(credential.publicKey.coseBytes == authenticator.coseKey.encoded)
            #expect(credential.signatureCounter == 0x0102_0304)
            #expect(credential.aaguid.description == "01020304-0506-0708-090a-0b0c0d0e0f10")
            #expect(credential.transports.map(\.rawValue) == ["internal", "hybrid"])
            #expect(credential.isUserVerified && credential.isBackupEligible && credential.isBackedUp)
            #expect(credential.attestation == .none)
        }
    }

    // WebAuthn §7.1 steps 6 and 7.
    @Test func `client data of another ceremony or with a member twice are refused`() {
        expect(.type, step: 7) { $0.type = "webauthn.get" }
        expect(.clientData, step: 6) { $0.clientDataMembers = #","type":"webauthn.get""# }
        expect(.clientData, step: 6) { $0.clientDataMembers = #","crossOrigin":"no""# }
        expect(.clientData, step: 6) { $0.clientDataMembers = #","topOrigin":null"# }
        expect(.clientData, step: 6) { $0.clientDataMembers = "}" }
    }

    // WebAuthn §7.1 step 5: a byte order mark is no part of the text.
    @Test func `client data with a byte order mark are accepted`() throws {
        let authenticator = TestAuthenticator()
        let object: CBORValue = .map([
            .text("fmt"): .text("none"), .text("attStmt"): .map([:]),
            .text("authData"): .bytes(authenticator.authenticatorData(with: authenticator.attestedCredentialData())),
        ])
        let clientData = [0xEF, 0xBB, 0xBF] + authenticator.clientData("webauthn.create")
        let response = try TestAuthenticator.registration(
            clientData: clientData, object: object.encoded, id: authenticator.credentialID)
        #expect(try verify(response).id.bytes == authenticator.credentialID)
    }

    // WebAuthn §7.1 step 8.
    @Test func `another challenge is refused`() {
        expect(.challenge, step: 8) { $0.challenge = Array(1...32) }
        expect(.challenge, step: 8) { $0.challenge = [] }
        expect(.challenge, step: 8) { $0.challenge.removeLast() }
        expect(.challenge, step: 8) { $0.challenge.append(0) }
    }

    // WebAuthn §7.1 step 9.
    @Test(arguments: [
        "https://id.example.com.attacker.example", "https://attacker-id.example.com", "https://a.id.example.com",
        "https://example.com", "http://id.example.com", "https://id.example.com:8443", "https://id.example.com/",
        "https://ID.example.com", "id.example.com", "null", "", "https://attacker.example/https://id.example.com",
    ])
    func `an origin that is not exactly an allowed one is refused`(origin: String) {
        expect(.origin, step: 9) { $0.origin = origin }
    }

    // WebAuthn §7.1 step 9: texts that are equal in Swift.
    @Test func `an origin is compared byte for byte`() {
        var authenticator = TestAuthenticator()
        authenticator.origin = "https://\u{65}\u{301}.example"
        let party = RelyingParty(id: "id.example.com", origins: ["https://\u{E9}.example"])
        #expect(refusal { try verify(authenticator.registration(), party: party) }?.reason == .origin)
    }

    // WebAuthn §7.1 steps 10 and 11.
    @Test func `a page in a frame is refused`() {
        expect(.crossOrigin, step: 10) { $0.clientDataMembers = #","crossOrigin":true"# }
        expect(.topOrigin, step: 11) { $0.clientDataMembers = #","topOrigin":"https://id.example.com""# }
    }

    // WebAuthn §7.1 step 13.
    @Test func `a malformed attestation object is refused`() throws {
        let authenticator = TestAuthenticator()
        let data = authenticator.authenticatorData(with: authenticator.attestedCredentialData())
        let object: CBORValue = .map([
            .text("fmt"): .text("none"), .text("attStmt"): .map([:]), .text("authData"): .bytes(data),
        ])
        func reason(_ object: [UInt8]) -> Reason? {
            let clientData = authenticator.clientData("webauthn.create")
            return refusal {
                try verify(
                    TestAuthenticator.registration(
                        clientData: clientData, object: object, id: authenticator.credentialID))
            }?.reason
        }
        #expect(reason(object.encoded) == nil)
        #expect(reason(object.encoded + [0]) == .attestationObject(.trailingBytes))
        #expect(reason(object.encoded.dropLast()) == .attestationObject(.truncated))
        #expect(reason([0xBF] + object.encoded.dropFirst() + [0xFF]) == .attestationObject(.indefiniteLength))
        for name in ["fmt", "attStmt", "authData"] {
            #expect(reason(object.setting([.text(name): nil]).encoded) == .attestationMember(name))
        }
        for format in ["", "a b", "ü", "a\\", String(repeating: "a", count: 33)] {
            #expect(reason(object.setting([.text("fmt"): .text(format)]).encoded) == .attestationMember("fmt"))
        }
        #expect(reason(object.setting([.text("authData"): .text("a")]).encoded) == .attestationMember("authData"))
        #expect(reason(object.setting([.text("more"): .null]).encoded) == nil)
    }

    // WebAuthn §6.1.
    @Test func `authenticator data that are cut, longer or doubled are refused`() throws {
        let authenticator = TestAuthenticator()
        let data = authenticator.authenticatorData(with: authenticator.attestedCredentialData())
        for count in 0..<data.count {
            let refused = refusal { try verify(authenticator.registration(data: Array(data.prefix(count)))) }
            switch refused?.reason {
            case .authenticatorData(.truncated), .authenticatorData(.publicKey(.truncated)): break
            default: Issue.record("\(count) bytes: \(String(describing: refused))")
            }
        }
        for rest in [[0], data, authenticator.attestedCredentialData(), [0xA0]] {
            let refused = refusal { try verify(authenticator.registration(data: data + rest)) }
            #expect(refused?.reason == .authenticatorData(.trailingBytes) && refused?.step == 13)
        }
        let bare = refusal { try verify(authenticator.registration(data: authenticator.authenticatorData())) }
        #expect(bare?.reason == .authenticatorData(.missingCredential))
    }

    // WebAuthn §6.1.
    @Test func `extensions are read past as one map`() throws {
        func reason(_ extensions: [UInt8]) -> Reason? {
            var authenticator = TestAuthenticator()
            authenticator.rest = extensions
            let data = authenticator.authenticatorData(with: authenticator.attestedCredentialData(), extensions: true)
            return refusal { try verify(authenticator.registration(data: data)) }?.reason
        }
        let extensions = CBORValue.map([.text("credProtect"): .unsigned(2), .text("hmac-secret"): .boolean(true)])
            .encoded
        #expect(reason(extensions) == nil)
        #expect(reason([]) == .authenticatorData(.extensions(.truncated)))
        #expect(reason([0x80]) == .authenticatorData(.extensionsNoMap))
        #expect(reason(extensions + extensions) == .authenticatorData(.trailingBytes))
        #expect(reason([0xA1, 0x61, 0x61, 0xFB]) == .authenticatorData(.extensions(.unsupportedType)))
    }

    // WebAuthn §7.1 steps 14 to 17.
    @Test func `another RP ID, a missing UP or UV, and BS without BE are refused`() {
        expect(.relyingPartyID, step: 14) { $0.relyingPartyID = "example.com" }
        expect(.userPresence, step: 15) { $0.flags = 0x04 }
        expect(.userVerification, step: 16) { $0.flags = 0x01 }
        expect(.backupFlags, step: 17) { $0.flags = 0x15 }
    }

    // WebAuthn §7.1 steps 15 and 16.
    @Test func `UP and UV may be missing where they are not required`() throws {
        var authenticator = TestAuthenticator()
        authenticator.flags = 0x08
        let credential = try verify(authenticator.registration(), userVerification: false, userPresence: false)
        #expect(!credential.isUserVerified && credential.isBackupEligible && !credential.isBackedUp)
    }

    // WebAuthn §7.1 step 20.
    @Test func `a valid key of an algorithm that was not offered is refused`() throws {
        let cases: [(TestAuthenticator.Key, [COSEAlgorithm])] = [
            (.es512(.init()), COSEAlgorithm.offered), (.es256(.init()), [.edDSA]),
        ]
        for (key, algorithms) in cases {
            let response = try TestAuthenticator(key).registration()
            let refused = refusal { try verify(response, algorithms: algorithms) }
            #expect(refused?.reason == .algorithm && refused?.step == 20)
            #expect(try verify(response, algorithms: [key.algorithm]).publicKey.algorithm == key.algorithm)
        }
    }

    // WebAuthn §7.1 step 25.
    @Test func `a credential ID of 1023 bytes is accepted, and an empty or longer one is refused`() throws {
        var authenticator = TestAuthenticator()
        authenticator.credentialID = Array(repeating: 1, count: 1023)
        #expect(try verify(authenticator.registration()).id.bytes.count == 1023)
        for count in [0, 1024] {
            let object = authenticator
            authenticator.credentialID = Array(repeating: 1, count: count)
            let data = authenticator.authenticatorData(with: authenticator.attestedCredentialData())
            authenticator = object
            let refused = refusal { try verify(authenticator.registration(data: data)) }
            #expect(refused?.reason == .credentialIDLength && refused?.step == 25)
        }
    }

    // WebAuthn §7.1 step 27.
    @Test func `a response with the ID of another credential is refused`() throws {
        var authenticator = TestAuthenticator()
        let data = authenticator.authenticatorData(with: authenticator.attestedCredentialData())
        authenticator.credentialID[0] = 8
        let refused = refusal { try verify(authenticator.registration(data: data)) }
        #expect(refused?.reason == .credentialID && refused?.step == 27)
    }
}
