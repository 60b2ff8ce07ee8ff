import Crypto

/// The expectations of the server of a registration (WebAuthn §7.1).
package struct RegistrationCeremony: Sendable, Hashable {
    private let relyingParty: RelyingParty
    private let challenge: Challenge
    private let requiresUserVerification: Bool
    private let requiresUserPresence: Bool
    private let algorithms: [COSEAlgorithm]

    /// Describes the ceremony whose options were sent.
    ///
    /// - Parameters:
    ///   - relyingParty: The server.
    ///   - challenge: The challenge of the options. The caller makes sure that it is used once.
    ///   - requiresUserVerification: True if `userVerification` of the options was `required`.
    ///   - requiresUserPresence: False only if `mediation` was `conditional`. The browser then creates a passkey after
    ///     a sign-in by password, without a question.
    ///   - algorithms: The algorithms that were offered.
    package init(
        relyingParty: RelyingParty, challenge: Challenge, requiresUserVerification: Bool,
        requiresUserPresence: Bool = true, algorithms: [COSEAlgorithm]
    ) {
        self.relyingParty = relyingParty
        self.challenge = challenge
        self.requiresUserVerification = requiresUserVerification
        self.requiresUserPresence = requiresUserPresence
        self.algorithms = algorithms
    }

    /// Verifies a response: WebAuthn §7.1 steps 5 to 25.
    ///
    /// The caller refuses a credential that is registered already (step 26), in the commit that stores the new one.
    package func verify(_ response: RegistrationResponse) throws(CeremonyRefusal) -> NewCredential {
        do { return try verified(response) } catch { throw CeremonyRefusal(.registration, error) }
    }

    private func verified(_ response: RegistrationResponse) throws(CeremonyRefusal.Reason) -> NewCredential {
        try ClientData.check(
            response.clientDataJSON, type: "webauthn.create", challenge: challenge, for: relyingParty)
        let object = try Self.object(response.attestationObject)
        let (data, credential) = try Self.data(object.authenticatorData)
        try data.check(
            relyingParty, requiresUserPresence: requiresUserPresence,
            requiresUserVerification: requiresUserVerification)
        let key = try publicKey(of: credential)
        let clientDataHash = Array(SHA256.hash(data: response.clientDataJSON))
        let attestation: Attestation
        do {
            attestation = try Attestation.verify(object, of: credential, key: key, clientDataHash: clientDataHash)
        } catch { throw .attestation(error) }
        guard let id = CredentialID(credential.credentialID) else { throw .credentialIDLength }
        guard id == response.credentialID else { throw .credentialID }
        return NewCredential(
            id: id, publicKey: key, signatureCounter: data.signatureCounter, aaguid: credential.aaguid,
            transports: response.transports, isUserVerified: data.flags.contains(.userVerified),
            isBackupEligible: data.flags.contains(.backupEligible), isBackedUp: data.flags.contains(.backedUp),
            attestation: attestation)
    }

    private static func object(_ bytes: [UInt8]) throws(CeremonyRefusal.Reason) -> AttestationObject {
        do { return try AttestationObject(parsing: bytes) } catch {
            switch error {
            case .cbor(let fault): throw .attestationObject(fault)
            case .member(let name): throw .attestationMember(name)
            }
        }
    }

    private static func data(
        _ bytes: [UInt8]
    ) throws(CeremonyRefusal.Reason) -> (AuthenticatorData, AttestedCredentialData) {
        do throws(AuthenticatorData.Fault) {
            let data = try AuthenticatorData(parsing: bytes)
            guard let credential = data.credential else { throw .missingCredential }
            return (data, credential)
        } catch { throw .authenticatorData(error) }
    }

    /// The public key of a credential, whose algorithm was offered (step 20).
    private func publicKey(of credential: AttestedCredentialData) throws(CeremonyRefusal.Reason) -> CredentialPublicKey
    {
        do throws(CredentialPublicKey.Fault) {
            let key = try CredentialPublicKey(credential.publicKey, coseBytes: credential.publicKeyBytes)
            guard algorithms.contains(key.algorithm) else { throw .unsupportedAlgorithm }
            return key
        } catch {
            switch error {
            case .unsupportedAlgorithm: throw .algorithm
            case .malformed, .unusable: throw .publicKey
            }
        }
    }
}

/// A credential that was verified at its registration, to be stored (WebAuthn §7.1 step 27).
package struct NewCredential: Sendable, Hashable {
    /// The identifier.
    package let id: CredentialID
    /// The public key, stored by its ``CredentialPublicKey/coseBytes``.
    package let publicKey: CredentialPublicKey
    /// The signature counter; 0 if the authenticator has none.
    package let signatureCounter: UInt32
    /// The model of the authenticator, as it says itself.
    package let aaguid: AAGUID
    /// The ways to reach the authenticator, for the lists of credentials in later options.
    package let transports: [AuthenticatorTransport]
    /// True if the authenticator has verified the user (UV).
    package let isUserVerified: Bool
    /// True if the credential can be on several devices (BE).
    package let isBackupEligible: Bool
    /// True if the credential is backed up now (BS).
    package let isBackedUp: Bool
    /// The result of the attestation statement.
    package let attestation: Attestation
}
