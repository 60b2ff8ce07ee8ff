import CounterfoilServer

/// The values that connect a client to this server, and a command that signs in with them.
package struct ConnectPage: ConsolePage, Hashable {
    package static let template = "connect"

    package struct Value: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package var console: ConsoleHead
    package var application: AppSummary
    package var paths: AppPaths
    package var values: [Value]
    /// The `counterfoil login` command; nil unless the client is native and has a loopback redirect URI.
    package var command: String?
    /// The Swift code that signs in; nil if there is none for the client.
    package var snippet: String?
    /// The https URL on this server that a native client can claim as its redirect URI (RFC 8252 §7.2); nil if the
    /// client cannot claim one.
    package var callback: String?
}
