import CounterfoilServer

/// The form for the policy of a client.
package struct PolicyPage: ConsolePage, Hashable {
    package static let template = "policy"

    /// The fields for refresh tokens; an empty field keeps the default.
    package struct Refreshing: Sendable, Hashable {
        /// Whether each use replaces a token: `true`, `false` or empty; nil if the type has no choice.
        package var rotation: FormChoices?
        /// The time in which the response to a refresh may be repeated, in seconds.
        package var gracePeriod: FormField
        /// The time that a token outlives its last use, in seconds.
        package var idleLifetime: FormField
        /// The time that a token family lives, in seconds.
        package var lifetime: FormField
        /// The default of the client type, in words.
        package var usualGracePeriod: String
        /// The default of the client type, in words.
        package var usualIdleLifetime: String
        /// The default of the client type, in words.
        package var usualLifetime: String
    }

    package var console: ConsoleHead
    package var application: AppSummary
    package var paths: AppPaths
    /// The problems of all fields.
    package var problems: [FormProblem] = []
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The revision that the form was made from.
    package var revision: Int
    /// The check box for a publisher that an administrator knows.
    package var vouchedFor: FormCheck
    /// The check box for a client of the owner of the server; nil for a type without sign-ins.
    package var firstParty: FormCheck?
    /// The check box for verified https redirect URIs; nil for a type without them.
    package var claimedHTTPSVerified: FormCheck?
    /// The required PKCE: `s256`, `s256-or-plain` or `exempt-until`.
    package var pkce: FormChoices?
    /// The last day of the exemption.
    package var exemptUntil: FormField?
    /// Whether requests must contain `state`.
    package var requireState: FormCheck?
    /// The condition for a refresh token.
    package var refreshTokens: FormChoices?
    /// The lifetime and rotation of refresh tokens; nil for a type without them.
    package var refreshing: Refreshing?
    package var accessTokenLifetime: FormField
    package var idTokenLifetime: FormField?
    /// The treatment of sign-ins in an embedded web view.
    package var webViews: FormChoices?
    package var idTokenAlgorithm: FormChoices?
    package var subjectType: FormChoices?
    /// The scopes for requests without a user; nil if there is none to approve.
    package var machineScope: FormChoices?
}
