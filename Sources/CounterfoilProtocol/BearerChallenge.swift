/// The `WWW-Authenticate` value with which a protected resource rejects a request.
///
/// RFC 6750 §3 and RFC 9728 §5.1. `resource_metadata` and `scope` are written before `error_description`,
/// because some clients search the field for a parameter name and use the first match. For the same reason, `realm` and
/// `error_description` are written without equals signs, so that a text such as `scope=` is no match.
public struct BearerChallenge: Sendable, Hashable, CustomStringConvertible {
    /// The protection space (`realm`, RFC 6750 §3).
    ///
    /// If nil, the parameter is omitted. If `resource_metadata`, `scope` and `error` are nil too, the challenge
    /// contains `realm="api"`, because at least one parameter is required.
    public var realm: String?
    /// The URL of the protected resource metadata (`resource_metadata`, RFC 9728 §5.1); omitted if nil.
    public var resourceMetadata: String?
    /// The scope that the request requires (`scope`, RFC 6750 §3); omitted if nil.
    public var scope: Scope?
    /// The reason of the rejection (`error` and `error_description`); nil if the request contained no token
    /// (RFC 6750 §3.1).
    public var error: OAuthError?
    /// The authentication contexts, one of which the sign-in must have (`acr_values`, RFC 9470 §3); omitted if empty.
    public var authenticationContexts: [String] = []
    /// `max_age`, the maximum age of the authentication in seconds (RFC 9470 §3); omitted if nil.
    public var maxAge: Int?

    /// Creates a challenge without `acr_values` and `max_age`.
    public init(
        realm: String? = nil,
        resourceMetadata: String? = nil,
        scope: Scope? = nil,
        error: OAuthError? = nil
    ) {
        self.realm = realm
        self.resourceMetadata = resourceMetadata
        self.scope = scope
        self.error = error
    }

    /// The value of the `WWW-Authenticate` field.
    ///
    /// Quotes, backslashes, control characters and non-ASCII characters are removed from the values. In `realm` and
    /// `error_description`, a colon replaces each equals sign. At least one parameter always follows the scheme
    /// (RFC 6750 §3).
    public var description: String {
        var parameters: [(String, String)] = []
        let bare = resourceMetadata == nil && scope == nil && error == nil
        parameters.append(("realm", Self.searchable(realm ?? (bare ? "api" : ""))))
        parameters.append(("resource_metadata", resourceMetadata ?? ""))
        parameters.append(("scope", scope?.description ?? ""))
        parameters.append(("acr_values", authenticationContexts.joined(separator: " ")))
        parameters.append(("max_age", maxAge.map(String.init) ?? ""))
        parameters.append(("error", error?.code.rawValue ?? ""))
        parameters.append(("error_description", Self.searchable(error?.description ?? "")))
        let written = parameters.filter { !$0.1.isEmpty }.map { "\($0.0)=\"\(Self.quotable($0.1))\"" }
        return "Bearer " + written.joined(separator: ", ")
    }

    /// Replaces the equals signs of a text, in which a client could otherwise find the name of a parameter.
    static func searchable(_ text: String) -> String { text.replacing("=", with: ":") }

    /// Removes the characters that a quoted parameter must not contain.
    static func quotable(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0.isUnquoted || $0 == 0x20 }, as: UTF8.self)
    }
}
