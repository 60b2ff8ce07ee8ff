package import CounterfoilServer

/// What one application may do for a person; it posts `decision`, `permission.SCOPE` and `ticket`.
///
/// `decision` is `save` or `disconnect`. A permission that stays is a field `permission.SCOPE` with the value `granted`.
package struct ConnectedApplicationPage: ConsolePage, Hashable {
    package static let template = "connected-application"

    /// One thing that the application may do.
    package struct Permission: Sendable, Hashable {
        /// The scope token that it stands for.
        package var scope: String
        /// What it allows, in words.
        package var title: String
        /// Whether the box is ticked.
        package var isGranted: Bool = true
        /// Whether nothing else is left without it, so that it cannot be taken back alone.
        package var isNeeded: Bool = false
    }

    /// The head of the page.
    package var console: ConsoleHead
    /// What has to be looked at again.
    package var problems: [FormProblem]
    /// Where the pages of the account lie.
    package var paths: AccountPaths
    /// The application.
    package var application: ConnectedApplication
    /// The name of the application, for sentences.
    package var applicationName: DisplayName
    /// When the person last allowed it.
    package var allowed: String
    /// The address of its privacy policy.
    package var privacyURI: String?
    /// The address of its terms.
    package var termsURI: String?
    /// What it may do.
    package var permissions: [Permission]
    /// Whether any of it can be taken back alone.
    package var canBeNarrowed: Bool
    /// How long the access tokens work that it may have, in words.
    package var tokensEnd: String
    /// The path that the forms post to.
    package var action: String
    /// The proof that a form came from this page; the hidden field `ticket`.
    package var ticket: String

    /// Makes the page.
    package init(
        console: ConsoleHead, problems: [FormProblem] = [], paths: AccountPaths = AccountPaths(at: .applications),
        application: ConnectedApplication, allowed: String, privacyURI: String? = nil, termsURI: String? = nil,
        permissions: [Permission], tokensEnd: String, action: String, ticket: String
    ) {
        self.console = console
        self.problems = problems
        self.paths = paths
        self.application = application
        applicationName = application.name
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
