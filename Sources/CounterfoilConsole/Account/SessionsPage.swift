import CounterfoilServer

/// The browsers in which a person is signed in; it posts `decision`, `session` and `ticket`.
///
/// `decision` is `end`, of the session that `session` names, or `end-others`.
package struct SessionsPage: ConsolePage, Hashable {
    package static let template = "sessions"

    /// A browser that is signed in.
    package struct Row: Sendable, Hashable {
        /// The name of the session in the form; it is no secret, and worth nothing as a cookie.
        package var id: String
        /// The browser and its device, in words.
        package var device: String
        /// The address that the person signed in from.
        package var source: String?
        /// When the person signed in.
        package var signedIn: String
        /// When the browser was last seen.
        package var lastSeen: String
        /// Whether it is the browser that looks.
        package var isCurrent: Bool = false
    }

    /// The head of the page.
    package var console: ConsoleHead
    /// What has just happened, in one sentence.
    package var notice: String?
    /// Where the pages of the account lie.
    package var paths: AccountPaths
    /// The browser that looks, then the others, last seen first.
    package var rows: [Row]
    /// Whether there are others than the one that looks.
    package var hasOthers: Bool
    /// The path that the forms post to.
    package var action: String
    /// The proof that a form came from this page; the hidden field `ticket`.
    package var ticket: String

    /// Makes the page.
    package init(
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
