/// The secrets of a confidential application: when they were made, and, once, a new one.
public struct SecretsPage: Sendable, Hashable {
    /// A secret that counts.
    public struct Secret: Sendable, Hashable {
        /// What is sent to end it; nothing of the secret itself.
        public var identifier: String
        /// The day and the time when it was made, in words.
        public var made: String
        /// Whether it was made just now.
        public var isNew: Bool

        /// Makes a secret.
        public init(identifier: String, made: String, isNew: Bool = false) {
            self.identifier = identifier
            self.made = made
            self.isNew = isNew
        }
    }

    /// The head of the page.
    public var console: ConsoleHead
    /// What has just happened.
    public var notice: String?
    /// The application.
    public var application: ApplicationSummary
    /// The pages about it.
    public var paths: ApplicationPaths
    /// A secret that was made just now, shown this once.
    public var newSecret: String?
    /// The secrets, oldest first.
    public var secrets: [Secret]
    /// Whether one more can be made.
    public var canAdd: Bool
    /// Where the forms go: `decision` is `add`, or `remove` with `secret`.
    public var action: String
    /// The proof of the forms.
    public var ticket: String
    /// Whether it authenticates with keys, so that no secret counts.
    public var usesKeys: Bool

    /// Makes a page.
    public init(
        console: ConsoleHead, notice: String? = nil, application: ApplicationSummary, paths: ApplicationPaths,
        newSecret: String? = nil, secrets: [Secret], canAdd: Bool, action: String, ticket: String,
        usesKeys: Bool = false
    ) {
        self.console = console
        self.notice = notice
        self.application = application
        self.paths = paths
        self.newSecret = newSecret
        self.secrets = secrets
        self.canAdd = canAdd
        self.action = action
        self.ticket = ticket
        self.usesKeys = usesKeys
    }
}

/// The question whether an application is to end.
public struct DeleteApplicationPage: Sendable, Hashable {
    /// The head of the page.
    public var console: ConsoleHead
    /// The application.
    public var application: ApplicationSummary
    /// Where the form goes.
    public var action: String
    /// The proof of the form.
    public var ticket: String

    /// Makes a question.
    public init(console: ConsoleHead, application: ApplicationSummary, action: String, ticket: String) {
        self.console = console
        self.application = application
        self.action = action
        self.ticket = ticket
    }
}
