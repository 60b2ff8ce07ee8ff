import CounterfoilServer

/// The list of the secrets of a confidential client with their creation times; a new secret is shown once.
package struct SecretsPage: ConsolePage, Hashable {
    package static let template = "secrets"

    package struct Secret: Sendable, Hashable {
        /// ``ClientSecretRecord/shortID``, which identifies the secret in the form.
        package var identifier: String
        /// The time of creation, in words.
        package var made: String
        /// Whether the secret was just created.
        package var isNew: Bool = false
    }

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var client: ClientSummary
    package var paths: ClientPaths
    /// The secret that was just created, which is never shown again.
    package var newSecret: String?
    package var secrets: [Secret]
    /// Whether another secret can be created.
    package var canAdd: Bool
    /// The path that the forms post to; `decision` is `add`, or `remove` with the digest in `secret`.
    package var action: String
    /// The anti-CSRF token of the forms.
    package var ticket: String
    /// Whether the client authenticates with keys; its secrets are then not accepted.
    package var usesKeys: Bool = false
}

/// The confirmation page for the deletion of a client.
package struct DeleteClientPage: ConsolePage, Hashable {
    package static let template = "delete-application"

    package var console: ConsoleHead
    package var client: ClientSummary
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
}
