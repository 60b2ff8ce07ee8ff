package import CounterfoilServer
package import CounterfoilStore

/// The list of all clients, for administrators.
package struct AdministrationPage: ConsolePage, Hashable {
    package static let template = "administration"

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem] = []
    /// The number of clients that wait for approval, and of those in development; empty if there are none.
    package var waiting: [Waiting] = []
    package var filter: ClientFilterForm
    /// Whether there is no client, with any filter.
    package var isEmpty: Bool = false
    /// The number of clients, in words; nil on a later page, and if there is none.
    package var count: String?
    package var clients: [ClientSummary]
    /// The URL of the page with the next clients; nil if there are none.
    package var next: String?
    /// The path of the registration form.
    package var newPath: String
    package var paths: AdministrationPaths

    /// Clients in a state, with the number of them.
    package struct Waiting: Sendable, Hashable {
        /// The number of clients, in one sentence.
        package let text: String
        /// The URL of the list of these clients.
        package let path: String
    }
}

/// The branding form, with a preview.
package struct BrandingPage: ConsolePage, Hashable {
    package static let template = "branding"

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem]
    package var siteName: FormField
    /// The name that pages show if `siteName` is empty.
    package var standardName: DisplayName
    package var accent: FormField
    /// Whether the check box `own_colour` is ticked, so that the color in `accent` is used and not the default color.
    ///
    /// The check box is needed because a color input in HTML cannot be empty.
    package let ownColour: Bool
    package var supportURI: FormField
    /// The statements of the service on the consent page, by language.
    package var statements: [Statement]
    /// The field that uploads a logo.
    package var logo: FormField
    /// Whether there is a logo that can be removed.
    package var hasLogo: Bool
    /// Whether the check box `remove_logo` is ticked, so that saving removes the logo.
    package var removesLogo: Bool
    /// The logo that was chosen before and is not saved yet, in base64url; the hidden field `chosen_logo`.
    package var chosenLogo: String?
    /// Whether the page is a preview of the typed values, which are not saved yet.
    package var isPreview: Bool
    package var paths: AdministrationPaths
    /// The path that the form posts to, as `multipart/form-data`; `decision` is `save`, `preview` or
    /// `standard`.
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The revision of the branding in the form; a later change by another request makes saving fail.
    package var revision: Int

    package init(
        console: ConsoleHead, notice: String? = nil, problems: [FormProblem] = [], siteName: FormField,
        standardName: DisplayName, accent: FormField, supportURI: FormField, statements: [Statement] = [],
        logo: FormField, hasLogo: Bool,
        removesLogo: Bool = false, chosenLogo: String? = nil, isPreview: Bool = false, paths: AdministrationPaths,
        action: String, ticket: String,
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
        self.chosenLogo = chosenLogo
        self.isPreview = isPreview
        self.paths = paths
        self.action = action
        self.ticket = ticket
        self.revision = revision
    }
}

extension BrandingPage {
    /// The name of the hidden field that contains ``chosenLogo``.
    package static let chosenLogoField = "chosen_logo"

    /// The fields of the statement in one language.
    package struct Statement: Sendable, Hashable {
        /// The language tag (BCP 47).
        package let language: String
        /// The name of the language, in this language.
        package let languageName: String
        package var text: FormField
        package var privacyURI: FormField
        /// The text as the consent page shows it; nil unless the page is a preview.
        package var shown: SafeHTML?
        /// Whether the fields are expanded.
        package let isOpen: Bool

        /// Creates the fields.
        ///
        /// The fields are expanded for the standard language, and if they contain a value or a problem.
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
