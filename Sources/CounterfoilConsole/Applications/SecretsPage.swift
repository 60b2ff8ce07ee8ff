import CounterfoilServer

/// The secrets of a confidential application: when they were made, and, once, a new one.
package struct SecretsPage: ConsolePage, Hashable {
    package static let template = "secrets"

    /// A secret that counts.
    package struct Secret: Sendable, Hashable {
        /// What is sent to end it; nothing of the secret itself.
        package var identifier: String
        /// The day and the time when it was made, in words.
        package var made: String
        /// Whether it was made just now.
        package var isNew: Bool = false
    }

    /// The head of the page.
    package var console: ConsoleHead
    /// What has just happened.
    package var notice: String?
    /// The application.
    package var application: ApplicationSummary
    /// The pages about it.
    package var paths: ApplicationPaths
    /// A secret that was made just now, shown this once.
    package var newSecret: String?
    /// The secrets, oldest first.
    package var secrets: [Secret]
    /// Whether one more can be made.
    package var canAdd: Bool
    /// Where the forms go: `decision` is `add`, or `remove` with `secret`.
    package var action: String
    /// The proof of the forms.
    package var ticket: String
    /// Whether it authenticates with keys, so that no secret counts.
    package var usesKeys: Bool = false
}

/// The question whether an application is to end.
package struct DeleteApplicationPage: ConsolePage, Hashable {
    package static let template = "delete-application"

    /// The head of the page.
    package var console: ConsoleHead
    /// The application.
    package var application: ApplicationSummary
    /// Where the form goes.
    package var action: String
    /// The proof of the form.
    package var ticket: String
}
