/// How a protected resource says what it wants: the value of `WWW-Authenticate`.
///
/// RFC 6750 §3 and RFC 9728 §5.1. `resource_metadata` and `scope` come before `error_description`, because clients read
/// them by their first occurrence.
public struct BearerChallenge: Sendable, Hashable, CustomStringConvertible {
    /// `realm`; nil leaves it out.
    public var realm: String?
    /// `resource_metadata`; nil leaves it out.
    public var resourceMetadata: String?
    /// `scope`; nil leaves it out.
    public var scope: Scope?
    /// `error` and `error_description`; nil when the request held no token at all (RFC 6750 §3.1).
    public var error: OAuthError?
    /// `acr_values`, the ways of signing in of which one would do (RFC 9470 §3); empty leaves it out.
    public var authenticationContexts: [String] = []
    /// `max_age` in seconds, how recent a sign-in would do (RFC 9470 §3); nil leaves it out.
    public var maxAge: Int?

    /// Makes a challenge.
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

    /// The wire form: at least one parameter always follows the scheme (RFC 6750 §3).
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
