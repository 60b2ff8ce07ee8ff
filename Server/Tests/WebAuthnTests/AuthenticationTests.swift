import CounterfoilProtocol
import Testing
import WebAuthn

/// The result and the refusals of an authentication (WebAuthn §7.2).
struct AuthenticationTests {
    private func verify(
        _ response: AuthenticationResponse, with credential: StoredCredential, userVerification: Bool = true,
        allowed: [CredentialID] = [], user: UserHandle? = nil
    ) throws -> VerifiedAssertion {
        try AuthenticationCeremony(
            relyingParty: TestAuthenticator.relyingParty, challenge: TestAuthenticator.challenge,
            requiresUserVerification: userVerification, allowedCredentials: allowed, user: user
        ).verify(response, with: credential)
    }

    /// Checks that a response of a changed authenticator is refused for a reason at a step.
    private func expect(
        _ reason: CeremonyRefusal.Reason, step: Int, allowed: [CredentialID] = [], user: UserHandle? = nil,
        isBackupEligible: Bool? = nil, _ location: SourceLocation = #_sourceLocation,
        change: (inout TestAuthenticator) -> Void
    ) throws {
        var authenticator = TestAuthenticator()
        let stored = try authenticator.stored(isBackupEligible: isBackupEligible)
        change(&authenticator)
        let refused = refusal {
            try verify(authenticator.assertion(), with: stored, allowed: allowed, user: user)
        }
        #expect(refused?.reason == reason, sourceLocation: location)
        #expect(refused?.step == step && refused?.ceremony == .authentication, sourceLocation: location)
    }

    // WebAuthn §7.2 steps 21, 22 and 24.
    @Test func `a signature by the key of the credential is accepted`() throws {
        for key in try TestAuthenticator.Key.all() {
            var authenticator = TestAuthenticator(key)
            authenticator.counter = 5
            let stored = try authenticator.stored(counter: 4, isBackupEligible: true)
            let assertion = try verify(authenticator.assertion(), with: stored)
            #expect(assertion.credentialID == stored.id && assertion.userHandle == TestAuthenticator.user)
            #expect(assertion.signatureCounter == 5 && !assertion.counterWentBack)
            #expect(assertion.isUserVerified && assertion.isBackupEligible && assertion.isBackedUp)
        }
    }

    // WebAuthn §7.2 step 5.
    @Test func `a credential that is not allowed is refused`() throws {
        let other = try #require(CredentialID([1, 2, 3]))
        try expect(.credentialNotAllowed, step: 5, allowed: [other]) { _ in }
        let authenticator = TestAuthenticator()
        let stored = try authenticator.stored()
        #expect(
            try verify(authenticator.assertion(), with: stored, allowed: [other, stored.id]).credentialID == stored.id)
    }

    // WebAuthn §7.2 step 6.
    @Test func `a response with another ID than that of the record is refused`() throws {
        try expect(.credentialRecord, step: 6) { $0.credentialID[0] = 8 }
        try expect(.credentialRecord, step: 6, user: TestAuthenticator.user) { $0.credentialID[0] = 8 }
        // Step 5 comes before.
        let stored = try #require(CredentialID(TestAuthenticator().credentialID))
        try expect(.credentialNotAllowed, step: 5, allowed: [stored]) { $0.credentialID[0] = 8 }
    }

    // WebAuthn §7.2 step 6.
    @Test func `a credential or a user handle of another user is refused`() throws {
        try expect(.otherUser, step: 6, user: TestAuthenticator.other) { _ in }
        try expect(.userHandle, step: 6) { $0.userHandle = TestAuthenticator.other }
        try expect(.userHandle, step: 6, user: TestAuthenticator.user) { $0.userHandle = TestAuthenticator.other }
        try expect(.userHandleMissing, step: 6) { $0.userHandle = nil }
        var authenticator = TestAuthenticator()
        authenticator.userHandle = nil
        let stored = try authenticator.stored()
        let assertion = try verify(authenticator.assertion(), with: stored, user: TestAuthenticator.user)
        #expect(assertion.userHandle == TestAuthenticator.user)
    }

    // WebAuthn §7.2 steps 9 to 14.
    @Test func `client data of another ceremony, challenge or page are refused`() throws {
        try expect(.clientData, step: 9) { $0.clientDataMembers = #","origin":"https://id.example.com""# }
        try expect(.type, step: 10) { $0.type = "webauthn.create" }
        try expect(.challenge, step: 11) { $0.challenge[31] = 0 }
        try expect(.origin, step: 12) { $0.origin = "https://id.example.com.attacker.example" }
        try expect(.crossOrigin, step: 13) { $0.clientDataMembers = #","crossOrigin":true"# }
        try expect(.topOrigin, step: 14) { $0.clientDataMembers = #","topOrigin":"https://attacker.example""# }
    }

    // WebAuthn §7.2 steps 15 to 19.
    @Test func `another RP ID, missing flags and changed flags are refused`() throws {
        try expect(.relyingPartyID, step: 15) { $0.relyingPartyID = "example.com" }
        try expect(.userPresence, step: 16) { $0.flags = 0x0C }
        try expect(.userVerification, step: 17) { $0.flags = 0x09 }
        try expect(.backupFlags, step: 18) { $0.flags = 0x15 }
        try expect(.backupEligibility, step: 19, isBackupEligible: true) { $0.flags = 0x05 }
        try expect(.backupEligibility, step: 19, isBackupEligible: false) { $0.flags = 0x0D }
    }

    // WebAuthn §6.1: the flag AT is not set in an assertion.
    @Test func `authenticator data that are cut, longer or of a registration are refused`() throws {
        let authenticator = TestAuthenticator()
        let stored = try authenticator.stored()
        let data = authenticator.authenticatorData()
        func fault(_ data: [UInt8]) -> CeremonyRefusal.Reason? {
            refusal { try verify(authenticator.assertion(data: data), with: stored) }?.reason
        }
        for count in 1..<data.count {
            #expect(fault(Array(data.prefix(count))) == .authenticatorData(.truncated))
        }
        #expect(fault(data + [0]) == .authenticatorData(.trailingBytes))
        #expect(fault(data + data) == .authenticatorData(.trailingBytes))
        let attested = authenticator.authenticatorData(with: authenticator.attestedCredentialData())
        #expect(fault(attested) == .authenticatorData(.unexpectedCredential))
        var extended = TestAuthenticator(authenticator.key)
        extended.rest = [0xA1, 0x61, 0x61, 0x01]
        #expect(fault(extended.authenticatorData(extensions: true)) == nil)
    }

    // WebAuthn §7.2 step 21.
    @Test func `a signature by another key or algorithm is refused`() throws {
        for key in try TestAuthenticator.Key.all() {
            let authenticator = TestAuthenticator(key)
            let stored = try authenticator.stored()
            for other in try TestAuthenticator.Key.all() {
                let refused = refusal { try verify(authenticator.assertion(signedBy: other), with: stored) }
                #expect(refused?.reason == .signature && refused?.step == 21)
            }
        }
    }

    // WebAuthn §6.5.5: an ECDSA signature is an ASN.1 structure.
    @Test func `a signature in another form is refused`() throws {
        let key = P256Signature()
        let authenticator = TestAuthenticator(.es256(key.key))
        let stored = try authenticator.stored()
        for signature in try key.forms(of: authenticator) {
            let response = try TestAuthenticator.assertion(
                clientData: authenticator.clientData("webauthn.get"), data: authenticator.authenticatorData(),
                signature: signature, id: authenticator.credentialID, userHandle: TestAuthenticator.user)
            #expect(refusal { try verify(response, with: stored) }?.reason == .signature)
        }
    }

    // WebAuthn §7.2 step 22.
    @Test(
        arguments: [
            (0, 0, false), (1, 0, false), (8, 7, false), (7, 7, true), (6, 7, true), (0, 7, true),
            (.max, 0, false), (0, .max, true),
        ] as [(UInt32, UInt32, Bool)])
    func `a counter that went back is a fact and no error`(now: UInt32, before: UInt32, wentBack: Bool) throws {
        var authenticator = TestAuthenticator()
        authenticator.counter = now
        let assertion = try verify(authenticator.assertion(), with: authenticator.stored(counter: before))
        #expect(assertion.counterWentBack == wentBack && assertion.signatureCounter == now)
    }

    // WebAuthn §7.2 step 19 applies only where the backup state is used.
    @Test func `a change of BE is accepted where the server does not use it`() throws {
        var authenticator = TestAuthenticator()
        authenticator.flags = 0x05
        let assertion = try verify(authenticator.assertion(), with: authenticator.stored())
        #expect(!assertion.isBackupEligible && !assertion.isBackedUp)
    }

    @Test func `a refusal says the step and contains nothing of the response`() throws {
        let refused = CeremonyRefusal(.authentication, .challenge)
        #expect("\(refused)" == "the challenge is not the one of this ceremony (WebAuthn §7.2 step 11)")
        #expect("\(CeremonyRefusal(.registration, .attestation(.signature)))".hasSuffix("(WebAuthn §7.1 step 22)"))
    }
}
