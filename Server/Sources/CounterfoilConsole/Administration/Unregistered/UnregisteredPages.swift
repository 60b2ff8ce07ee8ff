package import CounterfoilServer

/// The hosts and registrations of the clients that no person registered.
package struct UnregisteredClientsPage: ConsolePage, Hashable {
    package static let template = "unregistered-clients"

    /// A host, or the clients that registered themselves.
    package struct Row: Sendable, Hashable {
        package var name: String
        /// The number of clients and of unused ones, in words.
        package var count: String
        package var path: String
    }

    package var console: ConsoleHead
    package var problems: [FormProblem] = []
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var paths: AdministrationPaths
    /// The kinds of clients that the server accepts, in one sentence.
    package var accepted: String
    /// Whether an option of the command line determines the accepted kinds.
    package var isFixed: Bool
    package var policyPath: String
    /// The path of the tokens for registrations.
    package var tokensPath: String
    /// The field `search`: the beginning of a host, or a client ID.
    package var search: FormField
    /// The path that the form sends a GET request to.
    package var action: String
    /// The hosts whose documents describe clients, by name.
    package var hosts: [Row]
    /// The URL of the page with more hosts; nil if there are none.
    package var more: String?
    /// The clients that registered themselves; nil if there are none.
    package var registrations: Row?
}

/// The unregistered clients of a host, or those that registered themselves, newest first.
package struct UnregisteredFamilyPage: ConsolePage, Hashable {
    package static let template = "unregistered-family"

    package struct Row: Sendable, Hashable {
        package var name: DisplayName
        /// Whether an administrator has suspended the client.
        package var isSuspended: Bool = false
        /// Whether no user can sign in before an administrator approves the client.
        package var isPending: Bool = false
        package var clientID: String
        /// The day on which the client became known.
        package var firstSeen: String
        /// The time of the last use, in words; nil if there is none.
        package var lastUsed: String?
        /// The number of users, in words.
        package var users: String
        /// The allowed scopes, separated by spaces; nil if there are none.
        package var scopes: String?
        package var path: String
    }

    package var console: ConsoleHead
    package var problems: [FormProblem] = []
    package var listPath: String
    /// The name of the host; nil for clients that registered themselves.
    package var host: String?
    /// The number of clients and of unused ones, in words.
    package var count: String
    package var rows: [Row]
    /// The URL of the page with older clients; nil if there are none.
    package var older: String?
    /// The path that the form posts to, which deletes every client of the host.
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
}

/// One unregistered client, with the forms that delete or adopt it.
package struct UnregisteredClientPage: ConsolePage, Hashable {
    package static let template = "unregistered-client"

    package var console: ConsoleHead
    package var problems: [FormProblem] = []
    /// The path of the list that contains the client, and the name of its link.
    package var listPath: String
    package var listName: String
    package var row: UnregisteredFamilyPage.Row
    /// The name of the client, which replaces the placeholder `{page.name}` in the texts of the page.
    package var name: DisplayName
    package var redirectURIs: [String]
    /// The path of the page for the approval and the suspension.
    package var decisionPath: String
    /// Whether the client can become a registered one: its identifier is the URL of its document.
    package var canBeAdopted: Bool
    /// Whether the client publishes its keys at a URL, which is not read any more after the adoption.
    package var publishesKeys: Bool
    /// The revision of the client on the page; the adoption fails if the client has changed since.
    package var revision: Int
    /// The path that the forms post to; `decision` is `end` or `adopt`.
    package var action: String
    /// The anti-CSRF token of the forms.
    package var ticket: String
}
