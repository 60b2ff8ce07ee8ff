/// A request to end a session.
///
/// OpenID Connect RP-Initiated Logout §2. Every parameter is optional. The server decides which values it accepts.
public struct LogoutRequest: Sendable, Hashable {
    /// `id_token_hint`, not verified.
    public enum Hint: Sendable, Hashable {
        /// The parameter is omitted.
        case none
        /// The value may be an ID token.
        case token(IDToken)
        /// The value cannot be an ID token.
        case unreadable
    }

    /// `id_token_hint`.
    public let hint: Hint
    /// `client_id`, unparsed; nil if omitted.
    public let clientID: String?
    /// `post_logout_redirect_uri`, unparsed; nil if omitted.
    public let postLogoutRedirectURI: String?
    /// `state`; nil if omitted or longer than ``State/byteLimit``.
    public let state: State?

    /// Parses the parameters, none of which may be repeated.
    ///
    /// `logout_hint` is ignored, because the session already identifies the user. `ui_locales` selects the
    /// language of the pages, as for every page.
    public init(parsing form: FormParameters) throws(FormParameters.Refusal) {
        hint = try form.single("id_token_hint").map { IDToken($0).map(Hint.token) ?? .unreadable } ?? .none
        clientID = try form.single("client_id")
        postLogoutRedirectURI = try form.single("post_logout_redirect_uri")
        state = try form.single("state").flatMap(State.init)
    }
}
