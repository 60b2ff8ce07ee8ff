import CounterfoilServer

/// The form that replaces or removes the logo of a client.
package struct LogoPage: ConsolePage, Hashable {
    package static let template = "logo"

    package var console: ConsoleHead
    package var client: ClientSummary
    package var paths: ClientPaths
    package var problems: [FormProblem] = []
    /// The field `logo`, which uploads an image as `multipart/form-data`; `decision` is `replace` or `remove`.
    package var logo: FormField
    /// Whether a change stops new sign-ins until an administrator approves the client.
    package var endsApproval: Bool
    /// Whether the client loses reserved scopes by a change.
    package var losesReserved: Bool
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The revision of the client in the form; a later change by another request makes saving fail.
    package var revision: Int
}

/// The page that checks whether the association files on the hosts of claimed redirect URIs name the client's apps.
package struct AssociationPage: ConsolePage, Hashable {
    package static let template = "association"

    /// The result for one app in the file of one host.
    package struct Finding: Sendable, Hashable {
        package var app: String
        /// The URL of the association file.
        package var file: String
        /// Whether the file names the app.
        package var isGood: Bool
        /// The result and the remedy, in one or two sentences.
        package var words: String
    }

    package var console: ConsoleHead
    package var client: ClientSummary
    package var paths: ClientPaths
    /// The hosts to which the check sends requests.
    package var hosts: [String]
    /// Whether the client has an Apple or Android app that a file could name.
    package var hasApps: Bool
    /// The results; nil before the first check.
    package var findings: [Finding]?
    /// The URLs of the files that were not checked, because they exceed the limit of one check.
    package var notLookedAt: [String] = []
    /// The rate-limit message with the time to retry; nil unless the rate limit refused the check.
    package var wait: String?
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
}
