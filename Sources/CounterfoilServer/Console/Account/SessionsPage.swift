/// The browsers in which a person is signed in; it posts `decision`, `session` and `ticket`.
///
/// `decision` is `end`, of the session that `session` names, or `end-others`.
public struct SessionsPage: Sendable, Hashable {
    /// A browser that is signed in.
    public struct Row: Sendable, Hashable {
        /// The name of the session in the form; it is no secret, and worth nothing as a cookie.
        public var id: String
        /// The browser and its device, in words.
        public var device: String
        /// The address that the person signed in from.
        public var source: String?
        /// When the person signed in.
        public var signedIn: String
        /// When the browser was last seen.
        public var lastSeen: String
        /// Whether it is the browser that looks.
        public var isCurrent: Bool

        /// Makes a row.
        public init(
            id: String, device: String, source: String? = nil, signedIn: String, lastSeen: String,
            isCurrent: Bool = false
        ) {
            self.id = id
            self.device = device
            self.source = source
            self.signedIn = signedIn
            self.lastSeen = lastSeen
            self.isCurrent = isCurrent
        }
    }

    /// The head of the page.
    public var console: ConsoleHead
    /// What has just happened, in one sentence.
    public var notice: String?
    /// Where the pages of the account lie.
    public var paths: AccountPaths
    /// The browser that looks, then the others, last seen first.
    public var rows: [Row]
    /// Whether there are others than the one that looks.
    public var hasOthers: Bool
    /// The path that the forms post to.
    public var action: String
    /// The proof that a form came from this page; the hidden field `ticket`.
    public var ticket: String

    /// Makes the page.
    public init(
        console: ConsoleHead, notice: String? = nil, paths: AccountPaths = AccountPaths(at: .sessions), rows: [Row],
        action: String, ticket: String
    ) {
        self.console = console
        self.notice = notice
        self.paths = paths
        self.rows = rows
        hasOthers = rows.contains { !$0.isCurrent }
        self.action = action
        self.ticket = ticket
    }
}
