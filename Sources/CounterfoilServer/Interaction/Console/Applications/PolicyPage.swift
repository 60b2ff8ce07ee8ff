/// What the administrator decides about an application.
public struct PolicyPage: Sendable, Hashable {
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

    /// Makes a form.
    public init(
        console: ConsoleHead, application: ApplicationSummary, paths: ApplicationPaths,
        problems: [FormProblem] = [], action: String, ticket: String, revision: Int, vouchedFor: FormCheck,
        firstParty: FormCheck? = nil,
        claimedHTTPSVerified: FormCheck? = nil, pkce: FormChoices? = nil, exemptUntil: FormField? = nil,
        requireState: FormCheck? = nil, refreshTokens: FormChoices? = nil, accessTokenLifetime: FormField,
        idTokenLifetime: FormField? = nil, webViews: FormChoices? = nil, idTokenAlgorithm: FormChoices? = nil,
        subjectType: FormChoices? = nil
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
        self.accessTokenLifetime = accessTokenLifetime
        self.idTokenLifetime = idTokenLifetime
        self.webViews = webViews
        self.idTokenAlgorithm = idTokenAlgorithm
        self.subjectType = subjectType
    }
}
