@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore
import Crypto

/// The answer by which a user proves the second factor.
///
/// Spaces, hyphens and case of a typed code do not count.
package enum SecondFactorAnswer: Sendable {
    /// Six digits of an authenticator app.
    case code(String)
    /// Anything else.
    case recoveryCode(RecoveryCode)
    /// The answer of a browser with a security key or a passkey (WebAuthn §5.1, `AuthenticationResponseJSON`) to the
    /// options on the page with this ticket.
    case key(String, ticket: String)

    package init(typed: String) {
        let letters = String(typed.lowercased().prefix(64).filter { !$0.isWhitespace && $0 != "-" })
        let isCode = letters.utf8.count == 6 && letters.utf8.allSatisfy { (0x30...0x39).contains($0) }
        self = isCode ? .code(letters) : .recoveryCode(RecoveryCode(letters: letters))
    }
}

/// A code that replaces one of the authenticator app once, for a user who has lost it.
package struct RecoveryCode: Secret {
    /// The number of codes that a user gets.
    package static let count = 10
    /// The number of letters, each of five random bits.
    private static let length = 10

    /// The letters without a hyphen.
    private let letters: String

    fileprivate init(letters: String) { self.letters = letters }

    package init(random: RandomBytes) {
        letters = String(Base32.encode(random.bytes(7)).lowercased().prefix(Self.length))
    }

    /// The code as it is shown, in two groups.
    package var exposed: String { "\(letters.prefix(Self.length / 2))-\(letters.dropFirst(Self.length / 2))" }

    /// Returns the digest for the store.
    ///
    /// Its key is the secret of the second factor, which the store has only in encrypted form. A reader of the store
    /// therefore cannot try codes, and a new server key changes no digest.
    package func digest(with secret: AuthenticatorSecret) -> ArtefactDigest {
        ArtefactDigest(
            ofRecoveryCode: HMAC<SHA256>.authenticationCode(
                for: Array("counterfoil recovery code\0\(letters)".utf8), using: SymmetricKey(data: secret.bytes)))
    }
}
