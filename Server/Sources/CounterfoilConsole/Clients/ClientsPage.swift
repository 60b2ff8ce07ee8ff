package import CounterfoilServer

/// The list of a developer's own clients.
package struct ClientsPage: ConsolePage, Hashable {
    package static let template = "applications"

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    /// The clients, oldest first.
    package var clients: [ClientSummary]
    /// The path of the registration form.
    package var newPath: String
    /// The path of the list of APIs.
    package var apisPath: String
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
