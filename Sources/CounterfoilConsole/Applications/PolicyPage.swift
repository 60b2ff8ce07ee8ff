import CounterfoilServer

/// What the administrator decides about an application.
package struct PolicyPage: ConsolePage, Hashable {
    package static let template = "policy"

    /// How long refresh tokens live and when they are replaced; an empty field leaves it at what is usual.
    package struct Refreshing: Sendable, Hashable {
        /// Whether a token is replaced each time that it is used: `true`, `false`, or empty; nil where there is no choice.
        package var rotation: FormChoices?
        /// How long the answer to a refresh may be repeated, in seconds.
        package var gracePeriod: FormField
        /// How long a token outlives its last use, in seconds.
        package var idleLifetime: FormField
        /// How long it lives however often it is used, in seconds.
        package var lifetime: FormField
        /// What is usual for its type, in words.
        package var usualGracePeriod: String
        /// What is usual for its type, in words.
        package var usualIdleLifetime: String
        /// What is usual for its type, in words.
        package var usualLifetime: String
    }

    /// The head of the page.
    package var console: ConsoleHead
    /// The application.
    package var application: ApplicationSummary
    /// The pages about it.
    package var paths: ApplicationPaths
    /// What is wrong, over all fields.
    package var problems: [FormProblem] = []
    /// Where the form goes.
    package var action: String
    /// The proof of the form.
    package var ticket: String
    /// The revision that is changed.
    package var revision: Int
    /// Whether somebody knows who publishes it.
    package var vouchedFor: FormCheck
    /// Whether it belongs to the owner of the server; nil for a type that nobody signs in to.
    package var firstParty: FormCheck?
    /// Whether its claimed addresses are its own; nil for a type that claims none.
    package var claimedHTTPSVerified: FormCheck?
    /// How it proves that it began an authorization: `s256`, `s256-or-plain` or `exempt-until`.
    package var pkce: FormChoices?
    /// The day of the exemption.
    package var exemptUntil: FormField?
    /// Whether requests must have `state`.
    package var requireState: FormCheck?
    /// When it gets a refresh token.
    package var refreshTokens: FormChoices?
    /// How long they live and when they are replaced; nil for a type that never gets one.
    package var refreshing: Refreshing?
    /// How long its access tokens live.
    package var accessTokenLifetime: FormField
    /// How long its ID tokens live.
    package var idTokenLifetime: FormField?
    /// Whether people may sign in for it inside a web-view.
    package var webViews: FormChoices?
    /// What signs its ID tokens.
    package var idTokenAlgorithm: FormChoices?
    /// Under which name it knows a person.
    package var subjectType: FormChoices?
    /// The scopes for requests without a user; nil where there is none to approve.
    package var machineScope: FormChoices?
}
