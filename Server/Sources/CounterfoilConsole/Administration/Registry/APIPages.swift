package import CounterfoilServer

/// The list of the registered APIs, for administrators.
package struct APIsPage: ConsolePage, Hashable {
    package static let template = "apis"

    package struct Row: Sendable, Hashable {
        package var name: DisplayName
        /// The resource indicator.
        package var uri: String
        /// The scopes, delimited by spaces.
        package var scope: String
        /// The `typ` of access tokens.
        package var tokenType: String
        /// Whether the API accepts only access tokens that are bound to a key.
        package var requiresBoundTokens: Bool
        /// The number of the clients that can request one of its scopes, in words.
        package var clients: String
        package var path: String
    }

    package var console: ConsoleHead
    package var paths: AdministrationPaths
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var newPath: String
    package var rows: [Row]
}

/// How an API checks access tokens; a new secret is shown once.
package struct APIPage: ConsolePage, Hashable {
    package static let template = "api"

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem] = []
    package var name: DisplayName
    package var uri: String
    package var clientID: String
    /// The time of the registration, in words.
    package var registered: String
    /// The secret that was just created, which is never shown again.
    package var newSecret: String?
    package var values: [ConnectPage.Value]
    package var configurations: [ConnectPage.Configuration]
    /// The path that the form posts to, which replaces the secret.
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// A digest of the digest of the secret, which the form posts, so that one form replaces one secret.
    package var secretRevision: String
    package var editPath: String
    package var deletePath: String
    package var listPath: String
}

/// The form that registers or changes an API.
package struct APIFormPage: ConsolePage, Hashable {
    package static let template = "api-form"

    package var console: ConsoleHead
    package var problems: [FormProblem]
    /// The resource indicator; nil for a new API.
    package var api: String?
    /// The field `uri` of a new API; nil for one that exists, because its URI cannot change.
    package var uri: FormField?
    package var name: FormField
    package var scopes: FormChoices
    package var tokenType: FormChoices
    package var requiresBoundTokens: FormCheck
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The digest of the API in the form, empty for a new one.
    ///
    /// If another request changes the API, saving fails.
    package var revision: String
    package var cancelPath: String
    package var newScopePath: String
}
