/// The picture of an application, and the form that changes it.
public struct LogoPage: Sendable, Hashable {
    /// The head of the page.
    public var console: ConsoleHead
    /// The application.
    public var application: ApplicationSummary
    /// The pages about it.
    public var paths: ApplicationPaths
    /// What is wrong, over all fields.
    public var problems: [FormProblem]
    /// The picture to send, as the field `logo` of a `multipart/form-data` form; `decision` is `replace` or `remove`.
    public var logo: FormField
    /// Where the form goes.
    public var action: String
    /// The proof of the form.
    public var ticket: String
    /// The revision that is changed.
    public var revision: Int

    /// Makes a form.
    public init(
        console: ConsoleHead, application: ApplicationSummary, paths: ApplicationPaths,
        problems: [FormProblem] = [], logo: FormField, action: String, ticket: String, revision: Int
    ) {
        self.console = console
        self.application = application
        self.paths = paths
        self.problems = problems
        self.logo = logo
        self.action = action
        self.ticket = ticket
        self.revision = revision
    }
}

/// Whether the hosts of an application's claimed addresses name it.
public struct AssociationPage: Sendable, Hashable {
    /// What the file of one host says of one app.
    public struct Finding: Sendable, Hashable {
        /// The app.
        public var app: String
        /// The address of the file.
        public var file: String
        /// Whether it is as it should be.
        public var isGood: Bool
        /// What was found and what to do, in a sentence or two.
        public var words: String

        /// Makes a finding.
        public init(app: String, file: String, isGood: Bool, words: String) {
            self.app = app
            self.file = file
            self.isGood = isGood
            self.words = words
        }
    }

    /// The head of the page.
    public var console: ConsoleHead
    /// The application.
    public var application: ApplicationSummary
    /// The pages about it.
    public var paths: ApplicationPaths
    /// The hosts that would be asked.
    public var hosts: [String]
    /// Whether there is an app whose name could be looked for.
    public var hasApps: Bool
    /// What was found; nil before anybody has asked.
    public var findings: [Finding]?
    /// The addresses of files that were not looked at, because there are too many for one press.
    public var notLookedAt: [String]
    /// That somebody has looked too often, and when to look again; nil otherwise.
    public var wait: String?
    /// Where the form goes.
    public var action: String
    /// The proof of the form.
    public var ticket: String

    /// Makes a page.
    public init(
        console: ConsoleHead, application: ApplicationSummary, paths: ApplicationPaths, hosts: [String], hasApps: Bool,
        findings: [Finding]? = nil, notLookedAt: [String] = [], wait: String? = nil, action: String, ticket: String
    ) {
        self.console = console
        self.application = application
        self.paths = paths
        self.hosts = hosts
        self.hasApps = hasApps
        self.findings = findings
        self.notLookedAt = notLookedAt
        self.wait = wait
        self.action = action
        self.ticket = ticket
    }
}
