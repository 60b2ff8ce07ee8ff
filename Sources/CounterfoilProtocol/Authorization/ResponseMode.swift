/// The way in which the authorization response is returned to the client; the parameter `response_mode`.
///
/// OAuth 2.0 Multiple Response Type Encoding Practices §2.1.
public enum ResponseMode: String, Sendable, Hashable, CaseIterable {
    /// The response is in the query of the redirect URI.
    case query
    /// The response is in the fragment of the redirect URI, which the browser sends to no server.
    case fragment
    /// The response is in a form that the browser posts to the redirect URI (OAuth 2.0 Form Post Response Mode §2).
    case formPost = "form_post"
}
