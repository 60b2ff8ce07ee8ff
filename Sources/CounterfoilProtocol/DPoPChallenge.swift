/// The `WWW-Authenticate` value with which a protected resource asks for a token that is bound to a key.
///
/// RFC 9449 §7.1. In a response with both, it follows the ``BearerChallenge``, because some clients read only the first
/// challenge. It is alone if only this scheme applies; it then has `realm` and `resource_metadata`, too.
public struct DPoPChallenge: Sendable, Hashable, CustomStringConvertible {
    /// The protection space (`realm`, RFC 9110 §11.5); omitted if nil.
    public var realm: String?
    /// The URL of the protected resource metadata (`resource_metadata`, RFC 9728 §5.1); omitted if nil.
    public var resourceMetadata: String?
    /// The accepted algorithms of proofs (`algs`), the preferred one first.
    public var algorithms: [String]
    /// The scope that the request requires (`scope`); omitted if nil.
    public var scope: Scope?
    /// The reason of the rejection (`error` and `error_description`); nil if the request contained no bound token.
    public var error: OAuthError?
    /// The authentication contexts, one of which the sign-in must have (`acr_values`, RFC 9470 §3); omitted if empty.
    public var authenticationContexts: [String] = []
    /// `max_age`, the maximum age of the authentication in seconds (RFC 9470 §3); omitted if nil.
    public var maxAge: Int?

    /// Creates a challenge with accepted algorithms, a scope and an error; the other parameters are omitted.
    public init(algorithms: [String], scope: Scope? = nil, error: OAuthError? = nil) {
        self.algorithms = algorithms
        self.scope = scope
        self.error = error
    }

    /// The value of the `WWW-Authenticate` field, with `error` before `algs` as in the examples of RFC 9449 §7.1.
    ///
    /// In `realm` and `error_description`, a colon replaces each equals sign, as in ``BearerChallenge``.
    public var description: String {
        let parameters = [
            ("realm", BearerChallenge.searchable(realm ?? "")), ("resource_metadata", resourceMetadata ?? ""),
            ("scope", scope?.description ?? ""), ("acr_values", authenticationContexts.joined(separator: " ")),
            ("max_age", maxAge.map(String.init) ?? ""), ("error", error?.code.rawValue ?? ""),
            ("error_description", BearerChallenge.searchable(error?.description ?? "")),
            ("algs", algorithms.joined(separator: " ")),
        ]
        let written = parameters.filter { !$0.1.isEmpty }.map { "\($0.0)=\"\(BearerChallenge.quotable($0.1))\"" }
        return "DPoP " + written.joined(separator: ", ")
    }
}
