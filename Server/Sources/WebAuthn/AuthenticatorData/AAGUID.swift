/// The identifier of a model of authenticators (WebAuthn §6.5.1, `aaguid`).
///
/// Without attestation, the authenticator can state any value. It is good for a name in a list of passkeys, and for
/// nothing else.
package struct AAGUID: Sendable, Hashable, CustomStringConvertible {
    /// The 16 bytes.
    package let bytes: [UInt8]

    /// The value of authenticators that state no model.
    package static let unknown = AAGUID(unchecked: Array(repeating: 0, count: 16))

    /// Creates an identifier; returns nil if there are not 16 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        self.init(unchecked: Array(bytes))
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// The text in the form of a UUID, in lower case.
    package var description: String {
        let digits = bytes.map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count == 2 ? text : "0" + text
        }
        let groups = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10...]]
        return groups.map { $0.joined() }.joined(separator: "-")
    }

    /// The name of the passkey provider or security key, in English; nil if this server does not know it.
    package var authenticatorName: String? { AuthenticatorNames.names[description] }
}
