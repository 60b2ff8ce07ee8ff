public import CounterfoilProtocol
public import CounterfoilStore
import Foundation

/// A typed password, which is never truncated.
///
/// Keyboards and systems encode the same letter or space in different ways. So the server hashes the password in the
/// form of RFC 8265 §4.2.2 (see also NIST SP 800-63B §5.1.1.2): every space is U+0020, and the text is in Unicode
/// Normalization Form C.
///
/// A new password has at least 8 characters and at most 1024 bytes. A sign-in accepts at most 4096 bytes.
public struct Password: Secret {
    /// The maximum size of a password that a sign-in accepts, in bytes.
    public static let byteLimit = 4096

    /// The text in the form that is hashed; it must not be logged.
    public let exposed: String
    /// The text as typed if it has other bytes than ``exposed``; it must not be logged.
    ///
    /// Version 0.1 hashed passwords as typed.
    let asTyped: String?

    /// Creates a password to verify; returns nil if it is empty or longer than ``byteLimit``.
    public init?(typed text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count) else { return nil }
        exposed = Self.prepared(text)
        asTyped = exposed.utf8.elementsEqual(text.utf8) ? nil : text
    }

    /// Hashes ``exposed``, the only text that equal passwords have in common.
    public func hash(into hasher: inout Hasher) { hasher.combine(exposed) }

    /// Returns a text in the form that is hashed.
    private static func prepared(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(scalar.properties.generalCategory == .spaceSeparator ? " " : scalar)
        }
        return String(scalars).precomposedStringWithCanonicalMapping
    }

    /// The reason why a new password is refused; the raw value is the key of its message in the UI catalogue.
    public enum Refusal: String, LocalizationKey, Error, CustomStringConvertible {
        /// Fewer than 8 characters.
        case tooShort = "password.too-short"
        /// More than 1024 bytes.
        case tooLong = "password.too-long"
        /// The password is the username, compared without regard to upper and lower case.
        case sameAsName = "password.same-as-name"
        /// The password is the one that the user must change.
        case sameAsFormer = "password.same-as-former"
        /// The password is one of the most common passwords or a usual variation of one.
        case common = "password.common"
        /// libzxcvbn estimates too few guesses, for someone who knows the names of the user.
        case guessable = "password.guessable"

        /// The message in English, which asks for another password and does not repeat the refused one.
        public var description: String { Localizer.english(self) }
    }

    /// Creates a password to set: no character classes are required, but a password that is easy to guess is refused.
    ///
    /// Without libzxcvbn, only the most common passwords are refused.
    ///
    /// - Parameters:
    ///   - typed: The password as typed.
    ///   - username: The username of the user, or of the account to create.
    ///   - email: The email address of the user.
    ///   - displayName: The display name of the user.
    ///   - host: The host of the server.
    public init(
        choosing typed: String, for username: Username, email: EmailAddress?, displayName: String?, host: String?
    ) throws(Refusal) {
        let words = WordsOfUser(username: username, email: email, displayName: displayName, host: host)
        try self.init(choosing: typed, for: username, knowing: words, by: .system)
    }

    /// Creates a password to set, with the words of the user, and with another library or without one.
    package init(
        choosing typed: String, for username: Username, knowing words: WordsOfUser, by strength: PasswordStrength?
    ) throws(Refusal) {
        let text = Self.prepared(typed)
        guard text.count >= 8 else { throw .tooShort }
        guard text.utf8.count <= 1024 else { throw .tooLong }
        guard text.lowercased() != username.rawValue else { throw .sameAsName }
        guard !CommonPasswords.contain(text) else { throw .common }
        if let strength, strength.bits(of: text, knowing: words.all) < PasswordStrength.required { throw .guessable }
        exposed = text
        asTyped = nil
    }
}
