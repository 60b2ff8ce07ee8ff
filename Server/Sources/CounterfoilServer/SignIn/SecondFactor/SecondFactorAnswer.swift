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
        let code = RecoveryCode(typed: typed)
        let isCode = code.letters.utf8.count == 6 && code.letters.utf8.allSatisfy { (0x30...0x39).contains($0) }
        self = isCode ? .code(code.letters) : .recoveryCode(code)
    }
}

/// A code that replaces one of the authenticator app once, for a user who has lost it.
///
/// It also lets a user who has forgotten the password set another one, so it cannot be guessed.
package struct RecoveryCode: Secret {
    /// The number of codes that a user gets.
    package static let count = 10
    /// The number of letters, each of five random bits; those of earlier versions have 10.
    private static let length = 15
    /// The number of letters in a group.
    private static let groupLength = 5

    /// The letters without hyphens.
    fileprivate let letters: String

    /// Reads a code as typed, whatever its spaces, hyphens and case are.
    package init(typed: String) {
        letters = String(typed.lowercased().prefix(64).filter { !$0.isWhitespace && $0 != "-" })
    }

    package init(random: RandomBytes) {
        letters = String(Base32.encode(random.bytes(10)).lowercased().prefix(Self.length))
    }

    /// The code as it is shown, in groups.
    package var exposed: String {
        let letters = Array(letters)
        return stride(from: 0, to: letters.count, by: Self.groupLength).map { start in
            String(letters[start..<min(start + Self.groupLength, letters.count)])
        }.joined(separator: "-")
    }

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
