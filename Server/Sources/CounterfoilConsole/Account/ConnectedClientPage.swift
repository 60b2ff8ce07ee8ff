package import CounterfoilServer

/// The permissions of one app; the form posts `decision`, `permission.SCOPE` and `ticket`.
///
/// `decision` is `save` or `disconnect`. A kept permission is a field `permission.SCOPE` with the value
/// `granted`.
package struct ConnectedClientPage: ConsolePage, Hashable {
    package static let template = "connected-application"

    package struct Permission: Sendable, Hashable {
        package var scope: String
        /// The description of the scope.
        package var title: String
        package var isGranted: Bool = true
        /// Whether the permission can be withdrawn only together with all others.
        package var isNeeded: Bool = false
    }

    package var console: ConsoleHead
    package var problems: [FormProblem]
    package var paths: AccountPaths
    package var client: ConnectedClient
    /// The name of the app, which replaces the placeholder `{application}` in the texts of the page.
    package var clientName: DisplayName
    /// The day on which the user last allowed the app.
    package var allowed: String
    package var privacyURI: String?
    package var termsURI: String?
    package var permissions: [Permission]
    /// Whether any permission can be withdrawn without the others.
    package var canBeNarrowed: Bool
    /// A sentence that states for how long the app can still use the access tokens that it has.
    package var tokensEnd: String
    package var action: String
    /// The anti-CSRF token of the forms; the hidden field `ticket`.
    package var ticket: String

    package init(
        console: ConsoleHead, problems: [FormProblem] = [], paths: AccountPaths = AccountPaths(at: .clients),
        client: ConnectedClient, allowed: String, privacyURI: String? = nil, termsURI: String? = nil,
        permissions: [Permission], tokensEnd: String, action: String, ticket: String
    ) {
        self.console = console
        self.problems = problems
        self.paths = paths
        self.client = client
        clientName = client.fullName
        self.allowed = allowed
        self.privacyURI = privacyURI
        self.termsURI = termsURI
        self.permissions = permissions
        canBeNarrowed = permissions.contains { !$0.isNeeded }
        self.tokensEnd = tokensEnd
        self.action = action
        self.ticket = ticket
    }
}
