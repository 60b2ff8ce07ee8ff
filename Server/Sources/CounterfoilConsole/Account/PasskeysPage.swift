package import CounterfoilServer

/// The passkeys of a user; the forms post `decision`, `passkey`, `name` and `ticket`.
///
/// `decision` is `add`, `upgrade`, `rename` or `remove`. With `add`, and with `upgrade` on the first page of the
/// account, the script posts the answer of the browser in `passkey` (WebAuthn §5.1, `RegistrationResponseJSON`).
/// Otherwise, `passkey` is ``Row/id``.
package struct PasskeysPage: ConsolePage, Hashable {
    package static let template = "passkeys"

    package struct Row: Sendable, Hashable {
        /// The digest of the credential ID, which identifies the passkey in the forms.
        package var id: String
        /// The name that the user has given.
        package var name: DisplayName
        /// The product that keeps the passkey, such as iCloud Keychain; nil if it is unknown.
        package var product: String?
        package var added: String
        /// When and where the user last signed in with it, in words; nil if never.
        package var lastUsed: String?
        /// Whether the product copies the passkey to other devices.
        package var isSynced: Bool
    }

    package var console: ConsoleHead
    /// The confirmation of the last action, in one sentence; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem]
    package var paths: AccountPaths
    /// The passkeys, oldest first.
    package var rows: [Row]
    package var offer: PasskeyOffer
    package var signal: PasskeySignal
    /// Whether the user can have another passkey.
    package var canAdd: Bool
    package var nameLimit: Int

    package var script: PageScript? { .passkeys }
}

/// The passkeys and the names of a user, of which the script of a page notifies the browser (WebAuthn §5.1.10).
package struct PasskeySignal: Sendable, Hashable {
    /// The passkeys and the names in JSON.
    package var data: String
    /// The domain of the passkeys, their RP ID.
    package var domain: String
}
