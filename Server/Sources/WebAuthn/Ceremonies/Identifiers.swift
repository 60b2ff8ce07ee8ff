package import CounterfoilProtocol
import Crypto

/// The identifier of a credential (WebAuthn §4, credential ID): 1 to 1023 bytes that the authenticator has chosen.
package struct CredentialID: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length in bytes (WebAuthn §6.5.1).
    package static let byteLimit = 1023

    /// The bytes.
    package let bytes: [UInt8]

    /// Creates an identifier; returns nil if it is empty or too long.
    package init?(_ bytes: [UInt8]) {
        guard (1...Self.byteLimit).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// The identifier in base64url, as pages use it.
    package var description: String { Base64URL.encode(bytes) }
}

/// The identifier of a user in credentials (WebAuthn §5.4.3, `user.id` and `userHandle`): 1 to 64 bytes.
///
/// WebAuthn §14.6.1: it contains nothing that identifies the user, such as an email address.
package struct UserHandle: Sendable, Hashable {
    /// The maximum length in bytes.
    package static let byteLimit = 64

    /// The bytes.
    package let bytes: [UInt8]

    /// Creates a user handle from an identifier; of one with more than 64 bytes, it has the first 64.
    package init(ofText identifier: String) { bytes = Array(identifier.utf8.prefix(Self.byteLimit)) }

    /// Creates a user handle; returns nil if it is empty or too long.
    package init?(_ bytes: [UInt8]) {
        guard (1...Self.byteLimit).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}

/// The random bytes that a ceremony must answer (WebAuthn, “Cryptographic Challenges”), used for one ceremony only.
///
/// The caller binds it to the browser and makes sure that it is used once and expires.
package struct Challenge: Sendable, Hashable {
    /// The minimum length in bytes, which the standard recommends.
    package static let minimumByteCount = 16

    /// The bytes.
    package let bytes: [UInt8]

    /// Restores a challenge; returns nil if it has less than 16 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.minimumByteCount else { return nil }
        self.bytes = bytes
    }

    /// Creates the challenge that belongs to a secret text, such as the token of a form: its SHA-256 digest.
    package init(hashing text: String) { bytes = Array(SHA256.hash(data: Array(text.utf8))) }

    /// Creates a challenge of 32 random bytes.
    package init(from random: RandomBytes = RandomBytes()) { bytes = random.bytes(32) }

    /// Returns true if `challenge` of the client data is this one; the duration does not depend on its content.
    func isAnswered(by text: String) -> Bool { ConstantTime.equals(Base64URL.encode(bytes), text) }
}
