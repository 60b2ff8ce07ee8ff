/// The response of `navigator.credentials.create()` (WebAuthn §5.1, `RegistrationResponseJSON`).
///
/// Nothing in it is verified yet: see ``RegistrationCeremony``. The members `authenticatorData`, `publicKey` and
/// `publicKeyAlgorithm` are copies for pages, which nothing signs, and are ignored.
package struct RegistrationResponse: Sendable, Hashable {
    /// The maximum length of `attestationObject` in bytes.
    package static let attestationObjectLimit = 24 * 1024

    /// The identifier that the browser states.
    package let credentialID: CredentialID
    /// The ways to reach the authenticator, as the browser states them.
    package let transports: [AuthenticatorTransport]
    let clientDataJSON: [UInt8]
    let attestationObject: [UInt8]

    /// Parses the JSON of a response; throws a refusal of step 3.
    package init(json: [UInt8]) throws(CeremonyRefusal) {
        do {
            let members = try ResponseMembers(json: json)
            credentialID = members.credentialID
            clientDataJSON = try members.bytes("clientDataJSON", limit: ResponseMembers.clientDataLimit)
            attestationObject = try members.bytes("attestationObject", limit: Self.attestationObjectLimit)
            transports = try members.texts("transports").compactMap(AuthenticatorTransport.init)
        } catch { throw CeremonyRefusal(.registration, error) }
    }
}

/// A way to reach an authenticator (WebAuthn §5.8.4).
///
/// The server stores the values of the browser and repeats them, also those that it does not know.
package struct AuthenticatorTransport: RawRepresentable, Sendable, Hashable {
    package let rawValue: String

    /// Creates a transport; returns nil if the text is not 1 to 32 lower-case letters, digits and hyphens.
    package init?(rawValue: String) {
        guard (1...32).contains(rawValue.utf8.count),
            rawValue.utf8.allSatisfy({ byte in
                byte == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            })
        else { return nil }
        self.rawValue = rawValue
    }
}
