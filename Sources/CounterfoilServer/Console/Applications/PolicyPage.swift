/// What the administrator decides about an application.
public struct PolicyPage: Sendable, Hashable {
    /// How long refresh tokens live and when they are replaced; an empty field leaves it at what is usual.
    public struct Refreshing: Sendable, Hashable {
        /// Whether a token is replaced each time that it is used: `true`, `false`, or empty; nil where there is no choice.
        public var rotation: FormChoices?
        /// How long the answer to a refresh may be repeated, in seconds.
        public var gracePeriod: FormField
        /// How long a token outlives its last use, in seconds.
        public var idleLifetime: FormField
        /// How long it lives however often it is used, in seconds.
        public var lifetime: FormField
        /// What is usual for its type, in words.
        public var usualGracePeriod: String
        /// What is usual for its type, in words.
        public var usualIdleLifetime: String
        /// What is usual for its type, in words.
        public var usualLifetime: String

        /// Makes the fields.
        public init(
            rotation: FormChoices?, gracePeriod: FormField, idleLifetime: FormField, lifetime: FormField,
            usualGracePeriod: String, usualIdleLifetime: String, usualLifetime: String
        ) {
            self.rotation = rotation
            self.gracePeriod = gracePeriod
            self.idleLifetime = idleLifetime
            self.lifetime = lifetime
            self.usualGracePeriod = usualGracePeriod
            self.usualIdleLifetime = usualIdleLifetime
            self.usualLifetime = usualLifetime
        }
    }

    /// The head of the page.
    public var console: ConsoleHead
    /// The application.
    public var application: ApplicationSummary
    /// The pages about it.
    public var paths: ApplicationPaths
    /// What is wrong, over all fields.
    public var problems: [FormProblem]
    /// Where the form goes.
    public var action: String
    /// The proof of the form.
    public var ticket: String
    /// The revision that is changed.
    public var revision: Int
    /// Whether somebody knows who publishes it.
    public var vouchedFor: FormCheck
    /// Whether it belongs to the owner of the server; nil for a type that nobody signs in to.
    public var firstParty: FormCheck?
    /// Whether its claimed addresses are its own; nil for a type that claims none.
    public var claimedHTTPSVerified: FormCheck?
    /// How it proves that it began an authorization: `s256`, `s256-or-plain` or `exempt-until`.
    public var pkce: FormChoices?
    /// The day of the exemption.
    public var exemptUntil: FormField?
    /// Whether requests must have `state`.
    public var requireState: FormCheck?
    /// When it gets a refresh token.
    public var refreshTokens: FormChoices?
    /// How long they live and when they are replaced; nil for a type that never gets one.
    public var refreshing: Refreshing?
    /// How long its access tokens live.
    public var accessTokenLifetime: FormField
    /// How long its ID tokens live.
    public var idTokenLifetime: FormField?
    /// Whether people may sign in for it inside a web-view.
    public var webViews: FormChoices?
    /// What signs its ID tokens.
    public var idTokenAlgorithm: FormChoices?
    /// Under which name it knows a person.
    public var subjectType: FormChoices?
    /// The scopes for requests without a user; nil where there is none to approve.
    public var machineScope: FormChoices?

    /// Makes a form.
    public init(
        console: ConsoleHead, application: ApplicationSummary, paths: ApplicationPaths,
        problems: [FormProblem] = [], action: String, ticket: String, revision: Int, vouchedFor: FormCheck,
        firstParty: FormCheck? = nil,
        claimedHTTPSVerified: FormCheck? = nil, pkce: FormChoices? = nil, exemptUntil: FormField? = nil,
        requireState: FormCheck? = nil, refreshTokens: FormChoices? = nil, refreshing: Refreshing? = nil,
        accessTokenLifetime: FormField, idTokenLifetime: FormField? = nil, webViews: FormChoices? = nil,
        idTokenAlgorithm: FormChoices? = nil,
        subjectType: FormChoices? = nil, machineScope: FormChoices? = nil
    ) {
        self.console = console
        self.application = application
        self.paths = paths
        self.problems = problems
        self.action = action
        self.ticket = ticket
        self.revision = revision
        self.vouchedFor = vouchedFor
        self.firstParty = firstParty
        self.claimedHTTPSVerified = claimedHTTPSVerified
        self.pkce = pkce
        self.exemptUntil = exemptUntil
        self.requireState = requireState
        self.refreshTokens = refreshTokens
        self.refreshing = refreshing
        self.accessTokenLifetime = accessTokenLifetime
        self.idTokenLifetime = idTokenLifetime
        self.webViews = webViews
        self.idTokenAlgorithm = idTokenAlgorithm
        self.subjectType = subjectType
        self.machineScope = machineScope
    }
}
