/// How the answer of the authorization endpoint travels through the browser.
///
/// Wire name `response_mode`, OAuth 2.0 Multiple Response Type Encoding Practices §2.1; a fragment is never used, because a code
/// would stand in it where scripts and histories find it.
public enum ResponseMode: String, Sendable, Hashable, CaseIterable {
    /// In the query of the redirect URI.
    case query
    /// In a form that is posted to the redirect URI (OAuth 2.0 Form Post Response Mode §2).
    case formPost = "form_post"
}
