import CounterfoilServer

/// The signing keys, oldest first, with what needs them.
package struct KeysPage: ConsolePage, Hashable {
    package static let template = "keys"

    package struct Row: Sendable, Hashable {
        /// The identifier, `kid`.
        package var id: String
        package var algorithm: String
        /// The state and its beginning, in words.
        package var state: String
        package var isSigning: Bool
        /// The end of the tokens that the key has signed, in words.
        package var tokens: String
        /// What needs the key, one phrase each.
        package var uses: [String]
        /// The path of the form that replaces the key; nil if it has a successor.
        package var rotatePath: String?
        package var withdrawPath: String
    }

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var serverPath: String
    package var rows: [Row]
}

/// The form that rotates the key of an algorithm, or that withdraws a key.
package struct ChangeKeyPage: ConsolePage, Hashable {
    package static let template = "change-key"

    package var console: ConsoleHead
    package var problems: [FormProblem]
    package var keysPath: String
    package var key: KeysPage.Row
    /// The field `beginning`: when the new key begins to sign; nil for a withdrawal.
    package var beginning: FormChoices?
    /// The effects of a withdrawal, one sentence each.
    package var effects: [String]
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
}
