/// The authentication context class references of the server, one for each method of signing in.
///
/// They are the values of `acr` (OpenID Connect Core §2; RFC 9470 §3).
enum AuthenticationContext {
    /// A username or email address and a password, the only method.
    static let password = "urn:counterfoil:acr:password"

    /// All methods, the value of `acr_values_supported`.
    static let all = [password]
}
