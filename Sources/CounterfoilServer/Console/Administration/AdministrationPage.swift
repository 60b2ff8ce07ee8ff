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
    /// What the service says on the consent page, by language.
    public var statements: [Statement]
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
        standardName: DisplayName, accent: FormField, supportURI: FormField, statements: [Statement] = [],
        logo: FormField, hasLogo: Bool,
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
        self.statements = statements
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

extension BrandingPage {
    /// The fields for what the service says on the consent page in one language.
    public struct Statement: Sendable, Hashable {
        /// The language, as a tag (BCP 47).
        public let language: String
        /// Its name in itself.
        public let languageName: String
        /// The text.
        public var text: FormField
        /// The address of the privacy policy.
        public var privacyURI: FormField
        /// The text as the consent page would show it; nil unless the page is a preview.
        public var shown: SafeHTML?
        /// Tells that the fields are seen without a click.
        public let isOpen: Bool

        /// Makes fields; those of the standard language, and those with something in them, are open.
        public init(language: Language, text: FormField, privacyURI: FormField, shown: SafeHTML? = nil) {
            self.language = language.rawValue
            languageName = language.ownName
            self.text = text
            self.privacyURI = privacyURI
            self.shown = shown
            isOpen =
                language == .standard || !text.value.isEmpty || !privacyURI.value.isEmpty || text.problem != nil
                || privacyURI.problem != nil
        }
    }
}
