/// Every application, for administrators.
public struct AdministrationPage: Sendable, Hashable {
    /// The head of the page.
    public var console: ConsoleHead
    /// What has just happened.
    public var notice: String?
    /// The applications, those that need a look first.
    public var applications: [ApplicationSummary]
    /// Where a new one is registered.
    public var newPath: String
    /// The pages of the administration.
    public var paths: AdministrationPaths

    /// Makes a list.
    public init(
        console: ConsoleHead, notice: String? = nil, applications: [ApplicationSummary], newPath: String,
        paths: AdministrationPaths
    ) {
        self.console = console
        self.notice = notice
        self.applications = applications
        self.newPath = newPath
        self.paths = paths
    }
}

/// How the pages look, and the form that changes it, with a preview.
public struct BrandingPage: Sendable, Hashable {
    /// The head of the page.
    public var console: ConsoleHead
    /// What has just happened.
    public var notice: String?
    /// What is wrong, over all fields.
    public var problems: [FormProblem]
    /// The name of the service.
    public var siteName: FormField
    /// The name that is shown when none is given.
    public var standardName: DisplayName
    /// The colour.
    public var accent: FormField
    /// Whether the colour is chosen; sent as `own_colour`, because a colour field is never empty.
    public let ownColour: Bool
    /// Where people get help.
    public var supportURI: FormField
    /// The picture.
    public var logo: FormField
    /// Whether there is a picture that could be removed.
    public var hasLogo: Bool
    /// Whether it is to be removed.
    public var removesLogo: Bool
    /// Whether the page looks as it would with what was typed, and nothing of that is saved yet.
    public var isPreview: Bool
    /// The pages of the administration.
    public var paths: AdministrationPaths
    /// Where the form goes, as `multipart/form-data`; `decision` is `save`, `preview` or `standard`.
    public var action: String
    /// The proof of the form.
    public var ticket: String
    /// The revision that is changed.
    public var revision: Int

    /// Makes a form.
    public init(
        console: ConsoleHead, notice: String? = nil, problems: [FormProblem] = [], siteName: FormField,
        standardName: DisplayName, accent: FormField, supportURI: FormField, logo: FormField, hasLogo: Bool,
        removesLogo: Bool = false, isPreview: Bool = false, paths: AdministrationPaths, action: String, ticket: String,
        revision: Int
    ) {
        self.console = console
        self.notice = notice
        self.problems = problems
        self.siteName = siteName
        self.standardName = standardName
        self.accent = FormField(
            accent.name, accent.value.isEmpty ? "#2352c5" : accent.value, problem: accent.problem)
        ownColour = !accent.value.isEmpty
        self.supportURI = supportURI
        self.logo = logo
        self.hasLogo = hasLogo
        self.removesLogo = removesLogo
        self.isPreview = isPreview
        self.paths = paths
        self.action = action
        self.ticket = ticket
        self.revision = revision
    }
}
