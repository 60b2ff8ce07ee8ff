package import CounterfoilServer

/// The list of the clients that a developer owns or manages with their owners.
package struct ClientsPage: ConsolePage, Hashable {
    package static let template = "applications"

    /// A client that another developer asks the user to manage, too.
    package struct Invitation: Sendable, Hashable {
        package var clientID: String
        package var name: DisplayName
        /// The owner; nil if there is none.
        package var owner: DisplayName?
    }

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem] = []
    package var invitations: [Invitation] = []
    /// The path that the answers to invitations are posted to.
    package var invitationAction: String = ""
    /// The anti-CSRF token of the answers.
    package var ticket: String = ""
    package var filter: ClientFilterForm
    /// Whether there is no client, with any filter.
    package var isEmpty: Bool = false
    /// The number of clients, in words; nil on a later page, and if there is none.
    package var count: String?
    package var clients: [ClientSummary]
    /// The URL of the page with the next clients; nil if there are none.
    package var next: String?
    /// The path of the registration form; nil if the user may not register a client.
    package var newPath: String?
    /// The path of the list of APIs; nil if the user may not register a client.
    package var apisPath: String?
}

/// The APIs that clients can use.
package struct AvailableAPIsPage: ConsolePage, Hashable {
    package static let template = "available-apis"

    package struct API: Sendable, Hashable {
        package var name: DisplayName
        /// The resource indicator, which is the `aud` of access tokens.
        package var uri: String
        /// The `typ` of access tokens.
        package var tokenType: String
        /// Whether the API accepts only access tokens that are bound to a key.
        package var requiresBoundTokens: Bool
        package var scopes: [APIScope]
    }

    package struct APIScope: Sendable, Hashable {
        package var name: String
        /// The text for users.
        package var text: String
    }

    package var console: ConsoleHead
    package var apis: [API]
    package var clientsPath: String
}

/// The choice of a client type for a new registration.
package struct ClientTypesPage: ConsolePage, Hashable {
    package static let template = "application-types"

    package struct Choice: Sendable, Hashable {
        /// The raw value of the client type, such as `spa`.
        package var type: String
        package var name: String
        package var meaning: String
        /// The path of the form for this type.
        package var path: String
    }

    package var console: ConsoleHead
    package var choices: [Choice]
    package var clientsPath: String
}
