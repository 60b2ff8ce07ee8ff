/// A request of a client to end the session of the user at the server.
///
/// OpenID Connect RP-Initiated Logout §2. Every parameter is optional. The server decides which values it accepts.
public struct LogoutRequest: Sendable, Hashable {
    /// The unverified value of `id_token_hint`.
    public enum Hint: Sendable, Hashable {
        /// The parameter is omitted.
        case none
        /// The value consists of characters that an ID token can have.
        case token(IDToken)
        /// The value is too long for an ID token, or contains characters that an ID token cannot have.
        case unreadable
    }

    /// The ID token of the user whose session is to end, not verified (parameter `id_token_hint`).
    public let hint: Hint
    /// The client that requests the logout (parameter `client_id`), unparsed; nil if omitted.
    public let clientID: String?
    /// The URI of the redirect after the logout (parameter `post_logout_redirect_uri`), unparsed; nil if omitted.
    public let postLogoutRedirectURI: String?
    /// The value that the server appends to the URI of the redirect (parameter `state`).
    ///
    /// Nil if omitted or longer than ``OAuthState/byteLimit``.
    public let state: OAuthState?

    /// Parses the parameters, none of which may be repeated.
    ///
    /// `logout_hint` is ignored, because the session of the browser already identifies the user. `ui_locales` is not
    /// parsed here: the server reads it for every page to select the language.
    public init(parsing form: FormParameters) throws(FormParameters.Refusal) {
        hint = try form.single("id_token_hint").map { IDToken($0).map(Hint.token) ?? .unreadable } ?? .none
        clientID = try form.single("client_id")
        postLogoutRedirectURI = try form.single("post_logout_redirect_uri")
        state = try form.single("state").flatMap(OAuthState.init)
    }
}
