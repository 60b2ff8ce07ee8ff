import CounterfoilServer

/// The form in which administrators set the policy of a client.
package struct PolicyPage: ConsolePage, Hashable {
    package static let template = "policy"

    /// The fields for refresh tokens; an empty field keeps the default.
    package struct Refreshing: Sendable, Hashable {
        /// The choice whether each use replaces a refresh token: `true`, `false` or empty; nil if the client type has
        /// no choice.
        package var rotation: FormChoices?
        /// The number of seconds after a rotation during which a client can retry the refresh with the previous token.
        package var gracePeriod: FormField
        /// The lifetime of a refresh token after its last use, in seconds.
        package var idleLifetime: FormField
        /// The lifetime of a token family, in seconds.
        package var lifetime: FormField
        /// The default of `gracePeriod` for the client type, in words.
        package var usualGracePeriod: String
        /// The default of `idleLifetime` for the client type, in words.
        package var usualIdleLifetime: String
        /// The default of `lifetime` for the client type, in words.
        package var usualLifetime: String
    }

    package var console: ConsoleHead
    package var client: ClientSummary
    package var paths: ClientPaths
    package var problems: [FormProblem] = []
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The revision of the client in the form; a later change by another request makes saving fail.
    package var revision: Int
    /// The check box that marks the publisher as verified by an administrator.
    package var vouchedFor: FormCheck
    /// The check box for a first-party client, which belongs to the owner of the server; nil for the type `service`.
    package var firstParty: FormCheck?
    /// The check box that marks claimed https redirect URIs as verified; nil unless the client is native.
    package var claimedHTTPSVerified: FormCheck?
    /// The check box that marks https redirect URIs as verified; nil unless the client is a single-page app.
    package var httpsVerified: FormCheck?
    /// The required PKCE: `s256`, `s256-or-plain`, `optional` or `exempt-until`.
    package var pkce: FormChoices?
    /// The last day of the PKCE exemption, if `pkce` is `exempt-until`.
    package var exemptUntil: FormField?
    /// The check box that requires `state` in authorization requests.
    package var requireState: FormCheck?
    /// The check box that requires pushed authorization requests.
    package var requirePushedRequests: FormCheck?
    /// The check box that requires access tokens that are bound to a key.
    package var requireBoundTokens: FormCheck
    /// The condition under which the client gets refresh tokens.
    package var refreshTokens: FormChoices?
    /// The lifetime and rotation of refresh tokens; nil for a type without them.
    package var refreshing: Refreshing?
    package var accessTokenLifetime: FormField
    package var idTokenLifetime: FormField?
    /// The treatment of sign-ins in an embedded web view.
    package var webViews: FormChoices?
    /// The weakest sign-in with which the client gets tokens.
    package var minimumAuthentication: FormChoices?
    package var idTokenAlgorithm: FormChoices?
    /// The check box that puts the claims of the scopes `profile` and `email` into ID tokens.
    package var userClaimsInIDToken: FormCheck?
    package var subjectType: FormChoices?
    /// The scopes that an administrator approves for requests without a user (client credentials grant); nil if the
    /// client has no scope to approve.
    package var machineScope: FormChoices?
}
