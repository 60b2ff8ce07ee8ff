package import CounterfoilServer

/// The account of a user, for administrators.
///
/// The forms post `decision` and `ticket`, and `session`, `sign_in` or `passkey` to name what they end.
package struct UserAccountPage: ConsolePage, Hashable {
    package static let template = "user"

    /// A passkey of the user.
    package struct PasskeyRow: Sendable, Hashable {
        /// The digest of the credential ID in base64url, which is no secret.
        package var id: String
        package var name: DisplayName
        package var added: String
        package var lastUsed: String?
    }

    /// An app that the user has allowed something.
    package struct ConsentRow: Sendable, Hashable {
        package var name: DisplayName
        /// The names of the scopes.
        package var scope: String
        package var allowed: String
        package var lastUsed: String?
    }

    /// The numbers of records, in words.
    package struct Counts: Sendable, Hashable {
        package var sessions: String
        package var consents: String
        package var clients: String
        package var events: String
    }

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem] = []
    /// The path of the search for users.
    package var listPath: String
    package var name: DisplayName
    package var username: String
    package var id: String
    package var address: String?
    package var isEmailVerified: Bool
    /// The name of the role, and what it allows; nil for a user without one.
    package var role: String?
    package var roleMeaning: String?
    /// The field `role`, with the roles that the signed-in user may give; nil if there is none.
    package var roles: FormChoices?
    /// A sentence that says who may change the account, if the signed-in user may not because of its role.
    package var stronger: String?
    /// Whether the user is the signed-in one.
    package var isSelf: Bool
    package var isDisabled: Bool
    package var created: String
    /// The time of the last sign-in, in words; nil if there was none.
    package var lastSignIn: String?
    package var displayName: FormField
    package var email: FormField
    package var emailVerified: FormCheck
    /// The groups and attributes; nil if there are none.
    package var attributes: AttributeList?
    /// The path of the form for groups and attributes.
    package var attributesPath: String
    package var hasPassword: Bool
    package var passkeys: [PasskeyRow]
    /// The second factor in words; nil if there is none.
    package var secondFactor: String?
    /// The sessions.
    package var rows: [SessionsPage.Row]
    /// The sign-ins of apps.
    package var apps: SessionsPage.Apps
    package var consents: [ConsentRow]
    package var counts: Counts
    /// A sentence that says how many consents are shown; nil if all are.
    package var consentExcess: String?
    /// The clients that the user owns.
    package var clients: [ClientSummary]
    /// Whether the signed-in user sees every client.
    package var linksClients: Bool
    /// The URL of the events of the user in the audit log; nil unless the signed-in user may read it.
    package var auditPath: String?
    /// Whether the page has a download of what is stored about the user.
    package var canExport: Bool
    /// The path of the deletion.
    package var deletePath: String
    package var action: String
    /// The anti-CSRF token of the forms.
    package var ticket: String
    /// A digest of the name and the email address, which the form for them posts as `revision`.
    package var revision: String
    /// A new link by which the user sets a password, which is shown once; nil for none.
    package var link: String?
    /// Whether the form for name and email address is open, because it has a problem.
    package var isEditing: Bool = false
}

/// The page that asks for confirmation before a user is deleted.
package struct DeleteUserPage: ConsolePage, Hashable {
    package static let template = "delete-user"

    /// A kind of records with their number, in words.
    package struct Count: Sendable, Hashable {
        package var what: String
        package var number: String
    }

    package var console: ConsoleHead
    package var problems: [FormProblem] = []
    /// The path of the account.
    package var userPath: String
    package var name: DisplayName
    package var username: String
    /// What is deleted.
    package var counts: [Count]
    /// The clients of the user, which the form names in fields `client`.
    package var clients: [ClientSummary]
    /// The identifiers of the clients of the user, also of those that this version cannot read.
    package var clientIDs: [String]
    /// A sentence that says why the signed-in user cannot delete the account; nil if nothing speaks against it.
    package var obstacle: String?
    /// The field `clients`: `delete` or `transfer`; nil if the user owns none.
    package var fate: FormChoices?
    /// The field `owner`: the username of the new owner.
    package var owner: FormField
    /// The field `username`, which confirms the deletion.
    package var confirmation: FormField
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
}
