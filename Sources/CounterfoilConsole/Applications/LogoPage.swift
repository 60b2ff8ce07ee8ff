import CounterfoilServer

/// The picture of an application, and the form that changes it.
package struct LogoPage: ConsolePage, Hashable {
    package static let template = "logo"

    /// The head of the page.
    package var console: ConsoleHead
    /// The application.
    package var application: ApplicationSummary
    /// The pages about it.
    package var paths: ApplicationPaths
    /// What is wrong, over all fields.
    package var problems: [FormProblem] = []
    /// The picture to send, as the field `logo` of a `multipart/form-data` form; `decision` is `replace` or `remove`.
    package var logo: FormField
    /// Where the form goes.
    package var action: String
    /// The proof of the form.
    package var ticket: String
    /// The revision that is changed.
    package var revision: Int
}

/// Whether the hosts of an application's claimed addresses name it.
package struct AssociationPage: ConsolePage, Hashable {
    package static let template = "association"

    /// What the file of one host says of one app.
    package struct Finding: Sendable, Hashable {
        /// The app.
        package var app: String
        /// The address of the file.
        package var file: String
        /// Whether it is as it should be.
        package var isGood: Bool
        /// What was found and what to do, in a sentence or two.
        package var words: String
    }

    /// The head of the page.
    package var console: ConsoleHead
    /// The application.
    package var application: ApplicationSummary
    /// The pages about it.
    package var paths: ApplicationPaths
    /// The hosts that would be asked.
    package var hosts: [String]
    /// Whether there is an app whose name could be looked for.
    package var hasApps: Bool
    /// What was found; nil before anybody has asked.
    package var findings: [Finding]?
    /// The addresses of files that were not looked at, because there are too many for one press.
    package var notLookedAt: [String] = []
    /// That somebody has looked too often, and when to look again; nil otherwise.
    package var wait: String?
    /// Where the form goes.
    package var action: String
    /// The proof of the form.
    package var ticket: String
}
