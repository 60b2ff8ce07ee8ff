@_spi(Counterfoil) import CounterfoilProtocol

/// The options with which a page calls `navigator.credentials.get()`.
///
/// WebAuthn §5.1.9, `PublicKeyCredentialRequestOptionsJSON`, for `PublicKeyCredential.parseRequestOptionsFromJSON()`.
package struct RequestOptions: Sendable, Hashable {
    /// `rpId`.
    package let relyingPartyID: String
    /// `challenge`.
    package let challenge: Challenge
    /// `allowCredentials`; empty if the user chooses a passkey.
    package var allowedCredentials: [CredentialDescriptor] = []
    /// `userVerification`.
    package var userVerification = UserVerificationRequirement.required
    /// `hints`, the preferred one first.
    package var hints: [CredentialHint] = []
    /// `timeout` in milliseconds; nil for the one of the browser.
    package var timeout: Int64?

    /// Creates options; the other members can be set.
    package init(relyingPartyID: String, challenge: Challenge) {
        self.relyingPartyID = relyingPartyID
        self.challenge = challenge
    }

    /// The JSON in UTF-8.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("challenge", Base64URL.encode(challenge.bytes))
            if let timeout { writer.member("timeout", timeout) }
            writer.member("rpId", relyingPartyID)
            writer.member("allowCredentials", list: { CredentialDescriptor.write(allowedCredentials, to: &$0) })
            writer.member("userVerification", userVerification.rawValue)
            writer.member("hints", list: { CredentialHint.write(hints, to: &$0) })
        }
        return writer.bytes
    }
}
