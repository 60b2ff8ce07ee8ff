/// The response of `navigator.credentials.get()` (WebAuthn §5.1, `AuthenticationResponseJSON`).
///
/// Nothing in it is verified yet: see ``AuthenticationCeremony``.
package struct AuthenticationResponse: Sendable, Hashable {
    /// The maximum length of `authenticatorData` in bytes.
    package static let authenticatorDataLimit = 8 * 1024
    /// The maximum length of `signature` in bytes, that of an RSA key with 8192 bits.
    package static let signatureLimit = 1024

    /// The identifier of the credential, by which the caller finds it in the store.
    package let credentialID: CredentialID
    /// The user to whom the credential belongs, as the authenticator says; nil if it says nothing.
    package let userHandle: UserHandle?
    let clientDataJSON: [UInt8]
    let authenticatorData: [UInt8]
    let signature: [UInt8]

    /// Parses the JSON of a response; throws a refusal of step 3.
    ///
    /// An empty `userHandle` counts as missing, because some pages write it so.
    package init(json: [UInt8]) throws(CeremonyRefusal) {
        do {
            let members = try ResponseMembers(json: json)
            credentialID = members.credentialID
            clientDataJSON = try members.bytes("clientDataJSON", limit: ResponseMembers.clientDataLimit)
            authenticatorData = try members.bytes("authenticatorData", limit: Self.authenticatorDataLimit)
            signature = try members.bytes("signature", limit: Self.signatureLimit)
            userHandle = try members.optionalBytes("userHandle", limit: UserHandle.byteLimit).flatMap(UserHandle.init)
        } catch { throw CeremonyRefusal(.authentication, error) }
    }
}
