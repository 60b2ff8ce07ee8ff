import CounterfoilServer

/// The form for the logo of a client.
package struct LogoPage: ConsolePage, Hashable {
    package static let template = "logo"

    package var console: ConsoleHead
    package var application: AppSummary
    package var paths: AppPaths
    /// The problems of all fields.
    package var problems: [FormProblem] = []
    /// The upload, the field `logo` of a `multipart/form-data` form; `decision` is `replace` or `remove`.
    package var logo: FormField
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The revision that the form was made from.
    package var revision: Int
}

/// The check that the hosts of claimed redirect URIs name the client.
package struct AssociationPage: ConsolePage, Hashable {
    package static let template = "association"

    /// The result for one app in the file of one host.
    package struct Finding: Sendable, Hashable {
        package var app: String
        /// The URL of the file.
        package var file: String
        /// Whether the file names the app.
        package var isGood: Bool
        /// The result and the remedy, in one or two sentences.
        package var words: String
    }

    package var console: ConsoleHead
    package var application: AppSummary
    package var paths: AppPaths
    /// The hosts that the check sends requests to.
    package var hosts: [String]
    /// Whether the client has an app that a file could name.
    package var hasApps: Bool
    /// The results; nil before the first check.
    package var findings: [Finding]?
    /// The URLs of files beyond the limit of one check.
    package var notLookedAt: [String] = []
    /// The rate-limit message with the time to retry; nil if the check ran.
    package var wait: String?
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
}
