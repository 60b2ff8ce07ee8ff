/// A request to end a session.
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

    /// `id_token_hint`, not verified.
    public let hint: Hint
    /// `client_id`, unparsed; nil if omitted.
    public let clientID: String?
    /// `post_logout_redirect_uri`, unparsed; nil if omitted.
    public let postLogoutRedirectURI: String?
    /// `state`; nil if omitted or longer than ``State/byteLimit``.
    public let state: State?

    /// Parses the parameters, none of which may be repeated.
    ///
    /// `logout_hint` is ignored, because the session already identifies the user. `ui_locales` is not parsed
    /// here: the server reads it for every page to select the language.
    public init(parsing form: FormParameters) throws(FormParameters.Refusal) {
        hint = try form.single("id_token_hint").map { IDToken($0).map(Hint.token) ?? .unreadable } ?? .none
        clientID = try form.single("client_id")
        postLogoutRedirectURI = try form.single("post_logout_redirect_uri")
        state = try form.single("state").flatMap(State.init)
    }
}
