/// How somebody signed in.
///
/// Wire name `acr`, OpenID Connect Core §2; RFC 9470 §3.
enum AuthenticationContext {
    /// With a user name and a password, the one way that there is.
    static let password = "urn:counterfoil:acr:password"

    /// Every way that there is, `acr_values_supported`.
    static let all = [password]
}
