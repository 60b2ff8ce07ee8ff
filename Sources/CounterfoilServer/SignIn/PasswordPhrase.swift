/// The reasons why a password cannot be set.
public enum PasswordPhrase: String, LocalizationKey {
    /// The password is too short.
    case tooShort = "password.too-short"
    /// The password is too long.
    case tooLong = "password.too-long"
    /// The password is the username.
    case sameAsName = "password.same-as-name"
    /// The password is a common one.
    case common = "password.common"
}
