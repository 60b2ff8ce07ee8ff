/// The methods of signing in, as authentication context class references.
///
/// Wire name `acr`, OpenID Connect Core §2; RFC 9470 §3.
enum AuthenticationContext {
    /// A username and a password, the only method.
    static let password = "urn:counterfoil:acr:password"

    /// All methods, `acr_values_supported`.
    static let all = [password]
}
