@_spi(Counterfoil) import CounterfoilProtocol

/// The options with which a page calls `navigator.credentials.create()`.
///
/// WebAuthn §5.1.8, `PublicKeyCredentialCreationOptionsJSON`, for `PublicKeyCredential.parseCreationOptionsFromJSON()`.
/// They request no attestation, and a passkey (`residentKey: required`) unless ``residentKey`` says otherwise.
package struct CreationOptions: Sendable, Hashable {
    /// The user for whom a credential is created (WebAuthn §5.4.3).
    package struct User: Sendable, Hashable {
        /// `id`.
        package let handle: UserHandle
        /// `name`: what distinguishes the account from others, for example the sign-in name.
        package let name: String
        /// `displayName`: the name of the user for display; may be empty.
        package let displayName: String

        /// Creates a user.
        package init(handle: UserHandle, name: String, displayName: String) {
            self.handle = handle
            self.name = name
            self.displayName = displayName
        }
    }

    /// `rp.id`.
    package let relyingPartyID: String
    /// `rp.name`.
    package let relyingPartyName: String
    /// `user`.
    package let user: User
    /// `challenge`.
    package let challenge: Challenge
    /// `pubKeyCredParams`, the preferred one first.
    package var algorithms = COSEAlgorithm.offered
    /// `excludeCredentials`: the credentials of the user, so that an authenticator does not get a second one.
    package var excludedCredentials: [CredentialDescriptor] = []
    /// `authenticatorSelection.userVerification`.
    package var userVerification = UserVerificationRequirement.required
    /// `authenticatorSelection.residentKey`.
    package var residentKey = ResidentKeyRequirement.required
    /// `hints`, the preferred one first.
    package var hints: [CredentialHint] = []
    /// `timeout` in milliseconds; nil for the one of the browser.
    package var timeout: Int64?

    /// Creates options; the other members can be set.
    package init(relyingPartyID: String, relyingPartyName: String, user: User, challenge: Challenge) {
        self.relyingPartyID = relyingPartyID
        self.relyingPartyName = relyingPartyName
        self.user = user
        self.challenge = challenge
    }

    /// The JSON in UTF-8.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                "rp",
                object: { writer in
                    writer.member("id", relyingPartyID)
                    writer.member("name", relyingPartyName)
                })
            writer.member(
                "user",
                object: { writer in
                    writer.member("id", Base64URL.encode(user.handle.bytes))
                    writer.member("name", user.name)
                    writer.member("displayName", user.displayName)
                })
            writer.member("challenge", Base64URL.encode(challenge.bytes))
            writer.member(
                "pubKeyCredParams",
                list: { writer in
                    for algorithm in algorithms {
                        writer.object { writer in
                            writer.member("type", "public-key")
                            writer.member("alg", algorithm.rawValue)
                        }
                    }
                })
            if let timeout { writer.member("timeout", timeout) }
            writer.member("excludeCredentials", list: { CredentialDescriptor.write(excludedCredentials, to: &$0) })
            writer.member(
                "authenticatorSelection",
                object: { writer in
                    writer.member("residentKey", residentKey.rawValue)
                    // For browsers that know Level 1 only (WebAuthn §5.4.4).
                    writer.member("requireResidentKey", residentKey == .required)
                    writer.member("userVerification", userVerification.rawValue)
                })
            writer.member("hints", list: { CredentialHint.write(hints, to: &$0) })
            writer.member("attestation", "none")
        }
        return writer.bytes
    }
}
