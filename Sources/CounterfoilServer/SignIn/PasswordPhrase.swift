/// Why a password cannot be chosen.
public enum PasswordPhrase: String, Phrase {
    /// It is too short.
    case tooShort = "password.too-short"
    /// It is too long.
    case tooLong = "password.too-long"
    /// It is the user name.
    case sameAsName = "password.same-as-name"
    /// It is among those that most people choose.
    case common = "password.common"
}
