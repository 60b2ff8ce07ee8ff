/// The `WWW-Authenticate` value with which a protected resource rejects a request.
///
/// RFC 6750 §3 and RFC 9728 §5.1. `resource_metadata` and `scope` are written before `error_description`,
/// because some clients search the text for a parameter name and use the first match.
public struct BearerChallenge: Sendable, Hashable, CustomStringConvertible {
    /// `realm`; if nil, it is omitted, or `api` if `resource_metadata`, `scope` and `error` are nil too.
    public var realm: String?
    /// `resource_metadata`; omitted if nil.
    public var resourceMetadata: String?
    /// `scope`; omitted if nil.
    public var scope: Scope?
    /// `error` and `error_description`; nil if the request contained no token (RFC 6750 §3.1).
    public var error: OAuthError?
    /// `acr_values`, the authentication contexts of which one is required (RFC 9470 §3); omitted if empty.
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
    /// Quotes, backslashes, control characters and non-ASCII characters are removed from the values. At least
    /// one parameter always follows the scheme (RFC 6750 §3).
    public var description: String {
        var parameters: [(String, String)] = []
        parameters.append(("realm", realm ?? (resourceMetadata == nil && scope == nil && error == nil ? "api" : "")))
        parameters.append(("resource_metadata", resourceMetadata ?? ""))
        parameters.append(("scope", scope?.description ?? ""))
        parameters.append(("acr_values", authenticationContexts.joined(separator: " ")))
        parameters.append(("max_age", maxAge.map(String.init) ?? ""))
        parameters.append(("error", error?.code.rawValue ?? ""))
        parameters.append(("error_description", error?.description ?? ""))
        let written = parameters.filter { !$0.1.isEmpty }.map { "\($0.0)=\"\(Self.quotable($0.1))\"" }
        return "Bearer " + written.joined(separator: ", ")
    }

    private static func quotable(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0.isUnquoted || $0 == 0x20 }, as: UTF8.self)
    }
}
