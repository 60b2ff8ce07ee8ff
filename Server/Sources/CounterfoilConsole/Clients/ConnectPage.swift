package import CounterfoilServer

/// The values that connect a client to this server, and ready configurations of widely used libraries.
package struct ConnectPage: ConsolePage, Hashable {
    package static let template = "connect"

    package struct Value: Sendable, Hashable {
        package var name: String
        package var value: String
        /// Whether the value is copied literally; if false, it is text for people.
        package var isLiteral: Bool

        package init(_ name: String, _ value: String, isLiteral: Bool = true) {
            self.name = name
            self.value = value
            self.isLiteral = isLiteral
        }
    }

    /// An API to which the client can get access.
    package struct API: Sendable, Hashable {
        package var name: DisplayName
        /// The resource indicator, which is the `aud` of access tokens.
        package var resource: String
        /// The scopes of the API that the client can request.
        package var scope: String

        package init(name: DisplayName, resource: String, scope: String) {
            self.name = name
            self.resource = resource
            self.scope = scope
        }
    }

    package struct Configuration: Sendable, Hashable {
        /// The name of the library.
        package var product: String
        /// The file that the text is for.
        package var file: String
        package var text: String
    }

    package var console: ConsoleHead
    package var client: ClientSummary
    package var paths: ClientPaths
    package var values: [Value]
    package var apis: [API]
    /// Whether a request for all scopes must name the APIs in the parameter `resource`.
    package var needsResource: Bool
    /// The `counterfoil login` command; nil unless the client is native and has a loopback redirect URI.
    package var command: String?
    package var configurations: [Configuration]
    /// The path of the page with the secrets to which the configurations refer; nil if they refer to none.
    package var secretsPath: String?
    /// The https URL on this server that a native client can claim as its redirect URI (RFC 8252 §7.2); nil if the
    /// client cannot claim one.
    package var callback: String?
}
