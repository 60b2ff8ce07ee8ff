package import CounterfoilServer

/// The groups and attributes of a user with the form that changes them, and a preview of what an app gets of them.
package struct UserAttributesPage: ConsolePage, Hashable {
    package static let template = "user-attributes"

    /// The claims that an app would get now.
    package struct Preview: Sendable, Hashable {
        package var name: DisplayName
        package var scope: String
        /// Whether the user has allowed the app something.
        package var isAllowed: Bool
        /// The claims in an ID token, as JSON; nil without the scope `openid`.
        package var idToken: String?
        /// The claims in an access token, as JSON.
        package var accessToken: String
        /// The response of UserInfo, as JSON; nil without the scope `openid`.
        package var userInfo: String?
    }

    /// An app that the user has allowed something, with the path of its preview.
    package struct App: Sendable, Hashable {
        package var name: DisplayName
        package var path: String
    }

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem] = []
    /// The path of the account.
    package var userPath: String
    package var name: DisplayName
    /// The field `groups`, with one group on each line.
    package var groups: FormField
    /// The field `attributes`, a JSON object.
    package var attributes: FormField
    /// The groups and attributes for a user who cannot change them; nil for none.
    package var list: AttributeList?
    /// The field `client_id` of the preview.
    package var client: FormField
    /// The first apps that the user has allowed something.
    package var apps: [App]
    /// The preview; nil if no app is chosen.
    package var preview: Preview?
    /// The path of both forms.
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// A digest of the groups and attributes, which the form posts as `revision`.
    package var revision: String
}
