public import CounterfoilProtocol

/// What somebody typed as a password: 8 to 1024 bytes to be set, at most 4096 to be tried; never truncated.
public struct Password: Secret {
    /// The most bytes that are hashed.
    public static let byteLimit = 4096

    /// The text as typed.
    public let exposed: String

    /// A password to try, or nil when it is empty or longer than ``byteLimit``.
    public init?(typed text: String) {
        guard (1...Self.byteLimit).contains(text.utf8.count) else { return nil }
        exposed = text
    }

    /// Why a password is not good enough to be set.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Fewer than 8 characters.
        case tooShort
        /// More than 1024 bytes.
        case tooLong
        /// It is the user name.
        case sameAsName
        /// It is among those that most people choose.
        case common

        /// What to do, safe to show.
        public var text: Text {
            switch self {
            case .tooShort: Text(PasswordPhrase.tooShort)
            case .tooLong: Text(PasswordPhrase.tooLong)
            case .sameAsName: Text(PasswordPhrase.sameAsName)
            case .common: Text(PasswordPhrase.common)
            }
        }

        /// What to do, in English.
        public var description: String { Words.english(text) }
    }

    /// A password to set: no rule says of which characters, but it must not be one that everybody tries.
    public init(choosing text: String, for username: Username) throws(Refusal) {
        guard text.count >= 8 else { throw .tooShort }
        guard text.utf8.count <= 1024 else { throw .tooLong }
        guard text.lowercased() != username.rawValue else { throw .sameAsName }
        guard !CommonPasswords.contain(text) else { throw .common }
        exposed = text
    }
}
