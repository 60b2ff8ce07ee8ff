/// What one application may do for a person; it posts `decision`, `permission.SCOPE` and `ticket`.
///
/// `decision` is `save` or `disconnect`. A permission that stays is a field `permission.SCOPE` with the value `granted`.
public struct ConnectedApplicationPage: Sendable, Hashable {
    /// One thing that the application may do.
    public struct Permission: Sendable, Hashable {
        /// The scope token that it stands for.
        public var scope: String
        /// What it allows, in words.
        public var title: String
        /// Whether the box is ticked.
        public var isGranted: Bool
        /// Whether nothing else is left without it, so that it cannot be taken back alone.
        public var isNeeded: Bool

        /// Makes a permission.
        public init(scope: String, title: String, isGranted: Bool = true, isNeeded: Bool = false) {
            self.scope = scope
            self.title = title
            self.isGranted = isGranted
            self.isNeeded = isNeeded
        }
    }

    /// The head of the page.
    public var console: ConsoleHead
    /// What has to be looked at again.
    public var problems: [FormProblem]
    /// Where the pages of the account lie.
    public var paths: AccountPaths
    /// The application.
    public var application: ConnectedApplication
    /// The name of the application, for sentences.
    public var applicationName: DisplayName
    /// When the person last allowed it.
    public var allowed: String
    /// The address of its privacy policy.
    public var privacyURI: String?
    /// The address of its terms.
    public var termsURI: String?
    /// What it may do.
    public var permissions: [Permission]
    /// Whether any of it can be taken back alone.
    public var canBeNarrowed: Bool
    /// How long the access tokens work that it may have, in words.
    public var tokensEnd: String
    /// The path that the forms post to.
    public var action: String
    /// The proof that a form came from this page; the hidden field `ticket`.
    public var ticket: String

    /// Makes the page.
    public init(
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
