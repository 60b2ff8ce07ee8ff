/// The reason why a registration or an authentication has failed.
///
/// Every case is safe to log, because no case contains a challenge, a key, a signature or the name of a user.
package struct CeremonyRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// A ceremony of WebAuthn §7.
    package enum Ceremony: Sendable, Hashable {
        /// The registration of a credential (WebAuthn §7.1).
        case registration
        /// The authentication by a credential (WebAuthn §7.2).
        case authentication
    }

    /// The fault.
    package enum Reason: Error, Sendable, Hashable {
        /// The JSON of the response is malformed, too long, or a member with this name is missing or invalid.
        case response(String)
        /// The credential is not one of `allowCredentials`.
        case credentialNotAllowed
        /// The stored credential that the caller has given has another identifier than that of the response.
        case credentialRecord
        /// The credential belongs to another user than the one who was identified before.
        case otherUser
        /// The response contains no user handle, and the user was not identified before.
        case userHandleMissing
        /// The user handle is not that of the user of the credential.
        case userHandle
        /// The client data are not JSON with the required members, or have a member twice.
        case clientData
        /// The client data are of the other ceremony.
        case type
        /// The challenge is another one.
        case challenge
        /// The page has another origin.
        case origin
        /// The page is in a frame of another origin.
        case crossOrigin
        /// The client data contain `topOrigin`, which only a page in a frame of another origin has.
        case topOrigin
        /// The attestation object is not valid CBOR.
        case attestationObject(CBORFault)
        /// The member with this name of the attestation object is missing or invalid.
        case attestationMember(String)
        /// The authenticator data are malformed.
        case authenticatorData(AuthenticatorData.Fault)
        /// The credential is for another RP ID.
        case relyingPartyID
        /// The authenticator has not tested that the user is present (UP).
        case userPresence
        /// The authenticator has not verified the user (UV).
        case userVerification
        /// The flags say that the credential is backed up (BS), but cannot be (BE).
        case backupFlags
        /// The flag BE has changed since the registration.
        case backupEligibility
        /// The algorithm of the key was not offered, or is unknown.
        case algorithm
        /// The key does not fit its algorithm, or is no valid key.
        case publicKey
        /// The attestation statement is not valid.
        case attestation(Attestation.Fault)
        /// The identifier of the credential is empty or longer than 1023 bytes.
        case credentialIDLength
        /// The identifier of the response is not that of the created credential.
        case credentialID
        /// The signature is not valid for the key of the credential.
        case signature
    }

    /// The ceremony.
    package let ceremony: Ceremony
    /// The fault.
    package let reason: Reason

    /// Creates a refusal.
    package init(_ ceremony: Ceremony, _ reason: Reason) {
        self.ceremony = ceremony
        self.reason = reason
    }

    /// The number of the step in WebAuthn §7.1 or §7.2 (Level 3) that failed.
    package var step: Int {
        let isRegistration = ceremony == .registration
        return switch reason {
        case .response: 3
        case .credentialNotAllowed: 5
        case .credentialRecord, .otherUser, .userHandleMissing, .userHandle: 6
        case .clientData: isRegistration ? 6 : 9
        case .type: isRegistration ? 7 : 10
        case .challenge: isRegistration ? 8 : 11
        case .origin: isRegistration ? 9 : 12
        case .crossOrigin: isRegistration ? 10 : 13
        case .topOrigin: isRegistration ? 11 : 14
        case .attestationObject, .attestationMember: 13
        case .authenticatorData: isRegistration ? 13 : 7
        case .relyingPartyID: isRegistration ? 14 : 15
        case .userPresence: isRegistration ? 15 : 16
        case .userVerification: isRegistration ? 16 : 17
        case .backupFlags: isRegistration ? 17 : 18
        case .backupEligibility: 19
        case .algorithm, .publicKey: 20
        case .attestation: 22
        case .credentialIDLength: 25
        case .credentialID: 27
        case .signature: 21
        }
    }

    /// An explanation with the step, for the log.
    package var description: String {
        "\(explanation) (WebAuthn §7.\(ceremony == .registration ? 1 : 2) step \(step))"
    }

    private var explanation: String {
        switch reason {
        case .response(let member): "the response is malformed (\(member))"
        case .credentialNotAllowed: "the credential is not one of allowCredentials"
        case .credentialRecord: "the stored credential is not that of the response"
        case .otherUser: "the credential belongs to another user"
        case .userHandleMissing: "the response contains no userHandle"
        case .userHandle: "userHandle is not that of the user of the credential"
        case .clientData: "clientDataJSON is malformed"
        case .type: "the type of the client data is that of another ceremony"
        case .challenge: "the challenge is not the one of this ceremony"
        case .origin: "the origin of the page is not allowed"
        case .crossOrigin: "the page is in a frame of another origin"
        case .topOrigin: "the client data contain topOrigin"
        case .attestationObject(let fault): "attestationObject is malformed: \(fault)"
        case .attestationMember(let member): "attestationObject has no valid member \(member)"
        case .authenticatorData(let fault): "\(fault)"
        case .relyingPartyID: "the credential is for another RP ID"
        case .userPresence: "the authenticator has not tested the presence of the user (UP)"
        case .userVerification: "the authenticator has not verified the user (UV)"
        case .backupFlags: "the flag BS is set without BE"
        case .backupEligibility: "the flag BE has changed since the registration"
        case .algorithm: "the algorithm of the key was not offered"
        case .publicKey: "the public key is not valid for its algorithm"
        case .attestation(let fault): "\(fault)"
        case .credentialIDLength: "the credential ID is empty or longer than \(CredentialID.byteLimit) bytes"
        case .credentialID: "the credential ID of the response is not that of the created credential"
        case .signature: "the signature is not valid for the public key of the credential"
        }
    }
}
