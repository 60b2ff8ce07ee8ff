import Crypto

/// The expectations of the server of an authentication (WebAuthn §7.2).
package struct AuthenticationCeremony: Sendable, Hashable {
    private let relyingParty: RelyingParty
    private let challenge: Challenge
    private let requiresUserVerification: Bool
    private let allowedCredentials: [CredentialID]
    private let user: UserHandle?

    /// Describes the ceremony whose options were sent.
    ///
    /// - Parameters:
    ///   - relyingParty: The server.
    ///   - challenge: The challenge of the options. The caller makes sure that it is used once.
    ///   - requiresUserVerification: True if `userVerification` of the options was `required`.
    ///   - allowedCredentials: `allowCredentials` of the options; empty if the user chooses a passkey.
    ///   - user: The user who was identified before; nil if the passkey says who the user is.
    package init(
        relyingParty: RelyingParty, challenge: Challenge, requiresUserVerification: Bool,
        allowedCredentials: [CredentialID], user: UserHandle?
    ) {
        self.relyingParty = relyingParty
        self.challenge = challenge
        self.requiresUserVerification = requiresUserVerification
        self.allowedCredentials = allowedCredentials
        self.user = user
    }

    /// Verifies a response by the stored credential with its identifier: WebAuthn §7.2 steps 5 to 22.
    ///
    /// The caller finds the credential by ``AuthenticationResponse/credentialID``.
    package func verify(
        _ response: AuthenticationResponse, with credential: StoredCredential
    ) throws(CeremonyRefusal) -> VerifiedAssertion {
        do { return try verified(response, credential) } catch { throw CeremonyRefusal(.authentication, error) }
    }

    private func verified(
        _ response: AuthenticationResponse, _ credential: StoredCredential
    ) throws(CeremonyRefusal.Reason) -> VerifiedAssertion {
        guard allowedCredentials.isEmpty || allowedCredentials.contains(response.credentialID) else {
            throw .credentialNotAllowed
        }
        guard response.credentialID == credential.id else { throw .credentialRecord }
        try checkUser(response, credential)
        try ClientData.check(response.clientDataJSON, type: "webauthn.get", challenge: challenge, for: relyingParty)
        let data = try Self.data(response.authenticatorData)
        try data.check(
            relyingParty, requiresUserPresence: true, requiresUserVerification: requiresUserVerification)
        let isBackupEligible = data.flags.contains(.backupEligible)
        guard credential.isBackupEligible.map({ $0 == isBackupEligible }) ?? true else { throw .backupEligibility }
        let signed = response.authenticatorData + Array(SHA256.hash(data: response.clientDataJSON))
        guard credential.publicKey.isValidSignature(response.signature, for: signed) else { throw .signature }
        let (counter, before) = (data.signatureCounter, credential.signatureCounter)
        return VerifiedAssertion(
            credentialID: credential.id, userHandle: credential.userHandle, signatureCounter: counter,
            counterWentBack: (counter > 0 || before > 0) && counter <= before,
            isUserVerified: data.flags.contains(.userVerified), isBackupEligible: isBackupEligible,
            isBackedUp: data.flags.contains(.backedUp))
    }

    /// Compares the user of the credential with the one who was identified before and with the response (step 6).
    private func checkUser(
        _ response: AuthenticationResponse, _ credential: StoredCredential
    ) throws(CeremonyRefusal.Reason) {
        if let user {
            guard user == credential.userHandle else { throw .otherUser }
        } else {
            guard response.userHandle != nil else { throw .userHandleMissing }
        }
        guard response.userHandle.map({ $0 == credential.userHandle }) ?? true else { throw .userHandle }
    }

    private static func data(_ bytes: [UInt8]) throws(CeremonyRefusal.Reason) -> AuthenticatorData {
        do throws(AuthenticatorData.Fault) {
            let data = try AuthenticatorData(parsing: bytes)
            guard data.credential == nil else { throw .unexpectedCredential }
            return data
        } catch { throw .authenticatorData(error) }
    }
}

/// A credential as it was stored (WebAuthn §4, credential record).
package struct StoredCredential: Sendable, Hashable {
    /// The identifier.
    package let id: CredentialID
    /// The public key.
    package let publicKey: CredentialPublicKey
    /// The signature counter of the registration or of the last authentication.
    package let signatureCounter: UInt32
    /// The user to whom the credential belongs.
    package let userHandle: UserHandle
    /// The flag BE of the registration; nil if the server uses the backup state for no decision.
    ///
    /// Without it, a change of the flag is no error (WebAuthn §7.2 step 19).
    package let isBackupEligible: Bool?

    /// Creates a credential from a record.
    package init(
        id: CredentialID, publicKey: CredentialPublicKey, signatureCounter: UInt32, userHandle: UserHandle,
        isBackupEligible: Bool?
    ) {
        self.id = id
        self.publicKey = publicKey
        self.signatureCounter = signatureCounter
        self.userHandle = userHandle
        self.isBackupEligible = isBackupEligible
    }
}

/// The result of an authentication, by which the stored credential is updated (WebAuthn §7.2 step 24).
package struct VerifiedAssertion: Sendable, Hashable {
    /// The credential.
    package let credentialID: CredentialID
    /// The user to whom it belongs.
    package let userHandle: UserHandle
    /// The new signature counter.
    package let signatureCounter: UInt32
    /// True if the counter is not greater than the stored one, although one of them is not 0 (WebAuthn §7.2 step 22).
    ///
    /// There may be a copy of the private key, or two authentications have arrived in another order. It is no error.
    package let counterWentBack: Bool
    /// True if the authenticator has verified the user (UV).
    package let isUserVerified: Bool
    /// True if the credential can be on several devices (BE).
    package let isBackupEligible: Bool
    /// True if the credential is backed up now (BS).
    package let isBackedUp: Bool
}
