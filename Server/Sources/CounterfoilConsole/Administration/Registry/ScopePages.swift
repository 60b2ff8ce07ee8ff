package import CounterfoilServer
package import CounterfoilStore

/// The list of scopes with what uses them, for administrators.
package struct ScopesPage: ConsolePage, Hashable {
    package static let template = "scopes"

    package struct Row: Sendable, Hashable {
        package var name: String
        /// The text for users, in the language of the page.
        package var text: String
        /// The tags of the languages in which the owner has entered a text, delimited by commas.
        package var languages: String
        /// The names of the APIs that use the scope.
        package var apis: [DisplayName]
        /// The number of the clients that can request the scope, in words.
        package var clients: String
        /// The number of the clients whose users can decline the scope, in words; nil if there are none.
        package var optional: String?
        /// The number of the active grants with the scope, in words.
        package var grants: String
        package var isStandard: Bool
        package var isListed: Bool
        package var startsTicked: Bool
        package var isReserved: Bool
        /// The claims that it releases, delimited by commas; nil for none.
        package var claims: String?
        /// The path of the form that changes the scope.
        package var path: String
    }

    package var console: ConsoleHead
    package var paths: AdministrationPaths
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var newPath: String
    package var rows: [Row]
}

/// The form that creates or changes a scope.
package struct ScopeFormPage: ConsolePage, Hashable {
    package static let template = "scope-form"

    /// The field for the text in one language.
    package struct Text: Sendable, Hashable {
        /// The language tag (BCP 47).
        package let language: String
        /// The name of the language, in this language.
        package let languageName: String
        package let field: FormField
        /// Whether the scope needs a text in this language.
        package let isRequired: Bool

        package init(_ language: Language, field: FormField) {
            self.language = language.rawValue
            languageName = language.ownName
            self.field = field
            isRequired = language == .standard
        }
    }

    /// The fields for the claims that the scope releases.
    package struct Claims: Sendable, Hashable {
        /// The names, one on each line.
        package var names: FormField
        package var places: FormChoices
    }

    package var console: ConsoleHead
    package var problems: [FormProblem]
    /// The name of the scope; nil for a new one.
    package var scope: String?
    /// The field `name` of a new scope; nil for one that exists.
    package var name: FormField?
    package var texts: [Text]
    /// Whether users read the texts of the catalogue in a language without a text.
    package var isTranslated: Bool
    /// The field `listed`; nil for a standard scope, which is always listed.
    package var listed: FormCheck?
    package var startsTicked: FormCheck
    package var reserved: FormCheck
    /// The fields `claims` and `claim_places`; nil for a standard scope, which releases the claims of the standard.
    package var claims: Claims?
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The digest of the scope in the form, empty for a new one.
    ///
    /// If another request changes the scope, saving fails.
    package var revision: String
    package var listPath: String
    /// The path of the deletion; nil if the scope cannot be deleted.
    package var deletePath: String?
}

/// The confirmation page for the deletion of a scope, an API or a webhook, with what uses it.
package struct DeleteRecordPage: ConsolePage, Hashable {
    package static let template = "delete-record"

    /// A client or an API.
    package struct Use: Sendable, Hashable {
        package var name: DisplayName
        /// The `client_id`, or the resource indicator.
        package var id: String
        package var path: String
    }

    package var console: ConsoleHead
    package var problems: [FormProblem] = []
    /// The name of the scope; nil for another record.
    package var scope: String?
    /// The name of the API; nil for another record.
    package var api: DisplayName?
    /// The label of the webhook; nil for another record.
    package var webhook: DisplayName?
    /// The clients and APIs that use it, the first ones.
    package var uses: [Use]
    /// Whether there are more uses.
    package var hasMore: Bool
    /// The field `remove_from_all` of a scope in use: whether to remove the scope from its clients and APIs.
    package var removesFromAll: FormCheck?
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The path of the page to which the user returns without a deletion.
    package var cancelPath: String
    package var listPath: String
}
