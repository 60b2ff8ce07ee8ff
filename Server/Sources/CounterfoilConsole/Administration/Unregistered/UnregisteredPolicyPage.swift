import CounterfoilServer

/// The form that changes the policy for unregistered clients.
package struct UnregisteredPolicyPage: ConsolePage, Hashable {
    package static let template = "unregistered-policy"

    package var console: ConsoleHead
    package var problems: [FormProblem] = []
    package var listPath: String
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The revision of the policy in the form; a later change by another request makes saving fail.
    package var revision: Int
    /// The accepted kinds: `none`, `documents`, `registration` or `both`; nil if the command line determines them.
    package var kinds: FormChoices?
    /// The kinds that the command line determines, in one sentence; nil if it determines none.
    package var fixedKinds: String?
    package var allowedHosts: FormLines
    package var refusedHosts: FormLines
    package var approvers: FormChoices
    package var requiresInitialAccessToken: FormCheck
    /// The choice `scope_limit`: `listed` for every scope in the metadata, or `chosen` for those of `maximumScope`.
    package var scopeLimit: FormChoices
    package var maximumScope: FormChoices
    package var defaultScope: FormChoices
    /// The choice `resource_limit`: `every` API, or `chosen` for those of `resources`.
    package var resourceLimit: FormChoices
    /// The APIs; nil if none is registered.
    package var resources: FormChoices?
    package var refreshTokens: FormChoices
    package var accessTokenLifetime: FormField
    package var refreshIdleLifetime: FormField
    package var refreshLifetime: FormField
}
