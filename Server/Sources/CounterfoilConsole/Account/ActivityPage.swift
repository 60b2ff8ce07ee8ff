package import CounterfoilServer

/// The sign-ins of a user and the changes of the account, newest first.
package struct ActivityPage: ConsolePage, Hashable {
    package static let template = "activity"

    package struct Row: Sendable, Hashable {
        /// The event, in words.
        package var what: String
        /// The name of the app; nil if the event concerns none, or if the app was deleted.
        package var client: DisplayName?
        /// The time in UTC.
        package var time: String
        /// The source address; nil if no request caused the event.
        package var source: String?
        /// Whether a command of an operator caused the event.
        package var isFromOperator: Bool = false
    }

    package var console: ConsoleHead
    package var paths: AccountPaths = AccountPaths(at: .activity)
    package var rows: [Row]
    /// The URL of the page with older events; nil if there are none.
    package var older: String?
}
