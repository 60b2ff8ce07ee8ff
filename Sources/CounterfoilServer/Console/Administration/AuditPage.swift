/// What happened, for administrators: the newest first, and a form that asks for some of it.
public struct AuditPage: Sendable, Hashable {
    /// The head of the page.
    public var console: ConsoleHead
    /// The pages of the administration.
    public var paths: AdministrationPaths
    /// What is wrong with what was asked for.
    public var problems: [FormProblem]
    /// Which kind of event; `kind`.
    public var kind: FormChoices
    /// Whom it concerns, by user name; `person`.
    public var person: FormField
    /// Which application, by `client_id`; `client`.
    public var client: FormField
    /// From which day on; `since`.
    public var since: FormField
    /// Where the form goes, with GET.
    public var action: String
    /// The events.
    public var rows: [Row]
    /// Where those before them are; nil when these are the oldest.
    public var older: String?

    /// One event.
    public struct Row: Sendable, Hashable {
        /// When, in UTC.
        public var time: String
        /// What.
        public var what: String
        /// How it ended.
        public var outcome: String
        /// Whether it was refused.
        public var isRefused: Bool
        /// Who; nil when nobody is known.
        public var person: DisplayName?
        /// Which application; nil when none is concerned, or it is gone.
        public var application: DisplayName?
        /// The identifier of the application.
        public var clientID: String?
        /// Where it came from.
        public var source: String
        /// What more there is to say, in English.
        public var detail: String?

        /// Makes a row.
        public init(
            time: String, what: String, outcome: String, isRefused: Bool, person: DisplayName? = nil,
            application: DisplayName? = nil, clientID: String? = nil, source: String, detail: String? = nil
        ) {
            self.time = time
            self.what = what
            self.outcome = outcome
            self.isRefused = isRefused
            self.person = person
            self.application = application
            self.clientID = clientID
            self.source = source
            self.detail = detail
        }
    }

    /// Makes a page.
    public init(
        console: ConsoleHead, paths: AdministrationPaths, problems: [FormProblem] = [], kind: FormChoices,
        person: FormField, client: FormField, since: FormField, action: String, rows: [Row], older: String? = nil
    ) {
        self.console = console
        self.paths = paths
        self.problems = problems
        self.kind = kind
        self.person = person
        self.client = client
        self.since = since
        self.action = action
        self.rows = rows
        self.older = older
    }
}

/// The pages of the administration, seen from one of them.
public struct AdministrationPaths: Sendable, Hashable {
    /// Every application.
    public let applications: String
    /// The look of the pages.
    public let branding: String
    /// What happened.
    public let audit: String
    /// Whether this is the page of every application.
    public let isAtApplications: Bool
    /// Whether this is the look of the pages.
    public let isAtBranding: Bool
    /// Whether this is what happened.
    public let isAtAudit: Bool

    init(_ console: Console, at endpoint: Endpoint) {
        applications = console.path(.administration)
        branding = console.path(.branding)
        audit = console.path(.audit)
        isAtApplications = endpoint == .administration
        isAtBranding = endpoint == .branding
        isAtAudit = endpoint == .audit
    }
}
