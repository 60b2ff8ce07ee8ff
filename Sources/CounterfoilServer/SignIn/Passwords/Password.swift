public import CounterfoilProtocol

/// A typed password, which is never truncated.
///
/// A new password has at least 8 characters and at most 1024 bytes. A sign-in accepts at most 4096 bytes.
public struct Password: Secret {
    /// The maximum size of a password that a sign-in accepts, in bytes.
    public static let byteLimit = 4096

    /// The text as typed, without normalization; it must not be logged.
    public let exposed: String

    /// Creates a password to verify; returns nil if it is empty or longer than ``byteLimit``.
    public init?(typed text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count) else { return nil }
        exposed = text
    }

    /// The reason why a new password is refused; the raw value is the key of its message in the UI catalogue.
    public enum Refusal: String, LocalizationKey, Error, CustomStringConvertible {
        /// Fewer than 8 characters.
        case tooShort = "password.too-short"
        /// More than 1024 bytes.
        case tooLong = "password.too-long"
        /// The password is the username, compared without regard to upper and lower case.
        case sameAsName = "password.same-as-name"
        /// The password is one of the most common passwords or a usual variation of one.
        case common = "password.common"

        /// The message in English, which asks for another password and does not repeat the refused one.
        public var description: String { Localizer.english(self) }
    }

    /// Creates a password to set: no character classes are required, but a common password is refused.
    public init(choosing text: String, for username: Username) throws(Refusal) {
        guard text.count >= 8 else { throw .tooShort }
        guard text.utf8.count <= 1024 else { throw .tooLong }
        guard text.lowercased() != username.rawValue else { throw .sameAsName }
        guard !CommonPasswords.contain(text) else { throw .common }
        exposed = text
    }
}
