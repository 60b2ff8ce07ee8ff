import CounterfoilServer

/// The sessions of a user; the form posts `decision`, `session` and `ticket`.
///
/// `decision` is `end`, to end the session in the field `session`, or `end-others`.
package struct SessionsPage: ConsolePage, Hashable {
    package static let template = "sessions"

    package struct Row: Sendable, Hashable {
        /// The digest of the session token, which identifies the session in the form.
        ///
        /// The digest is no secret and cannot be used as a cookie.
        package var id: String
        /// The browser and the device, in words.
        package var device: String
        /// The source address at sign-in.
        package var source: String?
        package var signedIn: String
        package var lastSeen: String
        /// The day on which the session ends at the latest, if its cookie is persistent; nil for another one.
        package var staysUntil: String?
        /// Whether the row is the session of this browser.
        package var isCurrent: Bool = false
    }

    package var console: ConsoleHead
    /// The confirmation of the last action, in one sentence; nil if there is none.
    package var notice: String?
    package var paths: AccountPaths
    /// The session of this browser first, then the other sessions, most recently used first.
    package var rows: [Row]
    /// Whether there are sessions of other browsers.
    package var hasOthers: Bool
    package var action: String
    /// The anti-CSRF token of the forms; the hidden field `ticket`.
    package var ticket: String

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
