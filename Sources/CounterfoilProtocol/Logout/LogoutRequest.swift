/// What asks for the end of a session.
///
/// OpenID Connect RP-Initiated Logout §2. Every parameter may be missing; what each is worth is the server's to judge.
public struct LogoutRequest: Sendable, Hashable {
    /// `id_token_hint`, not verified.
    public enum Hint: Sendable, Hashable {
        /// It is left out.
        case none
        /// Something that may be an ID token.
        case token(IDToken)
        /// Something that cannot be one.
        case unreadable
    }

    /// `id_token_hint`.
    public let hint: Hint
    /// `client_id`, unjudged; nil when it is left out.
    public let clientID: String?
    /// `post_logout_redirect_uri`, unjudged; nil when it is left out.
    public let postLogoutRedirectURI: String?
    /// `state`; nil when it is left out.
    public let state: State?

    /// Reads the parameters; each may be given once.
    ///
    /// `logout_hint` is not read: it could only say whom the person at the browser already is. `ui_locales` chooses the language of
    /// the pages, as everywhere.
    public init(parsing form: FormParameters) throws(FormParameters.Refusal) {
        hint = try form.single("id_token_hint").map { IDToken($0).map(Hint.token) ?? .unreadable } ?? .none
        clientID = try form.single("client_id")
        postLogoutRedirectURI = try form.single("post_logout_redirect_uri")
        state = try form.single("state").flatMap(State.init)
    }
}
