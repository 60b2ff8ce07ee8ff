package import CounterfoilServer

/// The second factor of a user; the forms post `decision`, `current`, `proof`, `code`, `setup`, `passkey`, `name` and
/// `ticket`.
///
/// `decision` is `set-up`, `set-up-key`, `confirm`, `replace`, `recovery-codes`, `remove`, `add-key`, `rename-key` or
/// `remove-key`. `current` is a code of the present app or a recovery code, and `code` the first one of the app that is
/// set up.
///
/// With `set-up-key`, `add-key` and `confirm`, the script posts the answer of the browser in `passkey`. Otherwise,
/// `passkey` is ``Key/id``.
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
        /// Whether the user has an authenticator app.
        package var hasApp: Bool
        /// Whether the forms that change it are shown; without an app, only after a proof.
        package var isOpen: Bool
    }

    /// The values with which the script asks for a security key or a passkey as the proof.
    package struct Confirmation: Sendable, Hashable {
        /// The options in JSON (WebAuthn §5.1.9).
        package var options: String
        /// The label of the button.
        package var label: String
    }

    /// A security key.
    package struct Key: Sendable, Hashable {
        /// The digest of the credential ID, which identifies the key in the forms.
        package var id: String
        /// The name that the user has given.
        package var name: DisplayName
        package var added: String
        /// When and where the user last used it, in words; nil if never.
        package var lastUsed: String?
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
    /// The security keys, oldest first.
    package var keys: [Key]
    /// The values with which the script adds a security key; nil if the user can add none.
    package var keyOffer: PasskeyOffer?
    /// Nil unless the user must prove the second factor first, and has a key or a passkey.
    package var confirmation: Confirmation?
    /// The sealed proof of a user without an app; the hidden field `proof`.
    package var proof: String?
    package var nameLimit: Int
    /// New recovery codes, which are shown once.
    package var codes: [String]
    package var action: String
    /// The anti-CSRF token of the forms; the hidden field `ticket`.
    package var ticket: String

    /// Whether the user has none, and the server offers none.
    package var isOff: Bool
    package var hasNewCodes: Bool

    package var script: PageScript? { keyOffer == nil && confirmation == nil ? nil : .passkeys }
}
