package import CounterfoilServer

/// Every application, for administrators.
package struct AdministrationPage: ConsolePage, Hashable {
    package static let template = "administration"

    /// The head of the page.
    package var console: ConsoleHead
    /// What has just happened.
    package var notice: String?
    /// The applications, those that need a look first.
    package var applications: [ApplicationSummary]
    /// Where a new one is registered.
    package var newPath: String
    /// The pages of the administration.
    package var paths: AdministrationPaths
}

/// How the pages look, and the form that changes it, with a preview.
package struct BrandingPage: ConsolePage, Hashable {
    package static let template = "branding"

    /// The head of the page.
    package var console: ConsoleHead
    /// What has just happened.
    package var notice: String?
    /// What is wrong, over all fields.
    package var problems: [FormProblem]
    /// The name of the service.
    package var siteName: FormField
    /// The name that is shown when none is given.
    package var standardName: DisplayName
    /// The colour.
    package var accent: FormField
    /// Whether the colour is chosen; sent as `own_colour`, because a colour field is never empty.
    package let ownColour: Bool
    /// Where people get help.
    package var supportURI: FormField
    /// What the service says on the consent page, by language.
    package var statements: [Statement]
    /// The picture.
    package var logo: FormField
    /// Whether there is a picture that could be removed.
    package var hasLogo: Bool
    /// Whether it is to be removed.
    package var removesLogo: Bool
    /// Whether the page looks as it would with what was typed, and nothing of that is saved yet.
    package var isPreview: Bool
    /// The pages of the administration.
    package var paths: AdministrationPaths
    /// Where the form goes, as `multipart/form-data`; `decision` is `save`, `preview` or `standard`.
    package var action: String
    /// The proof of the form.
    package var ticket: String
    /// The revision that is changed.
    package var revision: Int

    /// Makes a form.
    package init(
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
    package struct Statement: Sendable, Hashable {
        /// The language, as a tag (BCP 47).
        package let language: String
        /// Its name in itself.
        package let languageName: String
        /// The text.
        package var text: FormField
        /// The address of the privacy policy.
        package var privacyURI: FormField
        /// The text as the consent page would show it; nil unless the page is a preview.
        package var shown: SafeHTML?
        /// Tells that the fields are seen without a click.
        package let isOpen: Bool

        /// Makes fields; those of the standard language, and those with something in them, are open.
        package init(language: Language, text: FormField, privacyURI: FormField, shown: SafeHTML? = nil) {
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
