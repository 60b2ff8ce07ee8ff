package import CounterfoilServer

/// The second factor of a user; the forms post `decision`, `current`, `code`, `setup` and `ticket`.
///
/// `decision` is `set-up`, `replace`, `recovery-codes` or `remove`. `current` is a code of the present app or a
/// recovery code, and `code` the first one of the app that is set up.
package struct SecondFactorPage: ConsolePage, Hashable {
    package static let template = "second-factor"

    /// The second factor that the user has.
    package struct Active: Sendable, Hashable {
        /// The day of the setup.
        package var since: String
        /// The number of recovery codes that are not used.
        package var codesLeft: Int
        /// Whether the policy of the server forbids to turn it off.
        package var isRequired: Bool
    }

    package var console: ConsoleHead
    /// The confirmation of the last action, in one sentence; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem]
    package var paths: AccountPaths
    /// Nil if the user has none.
    package var active: Active?
    /// Whether the second factor of the user is missing in the store.
    package var isLost: Bool
    /// The secret of another second factor; nil if the user cannot set one up.
    package var offer: AuthenticatorOffer?
    /// New recovery codes, which are shown once.
    package var codes: [String]
    package var action: String
    /// The anti-CSRF token of the forms; the hidden field `ticket`.
    package var ticket: String

    /// Whether the user has none, and the server offers none.
    package var isOff: Bool
    package var hasNewCodes: Bool
}
