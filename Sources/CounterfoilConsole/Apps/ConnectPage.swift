import CounterfoilServer

/// The values to connect a client to this server, and a command that signs in with them.
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
    /// The command that signs in; nil for client types that it does not support.
    package var command: String?
    /// The Swift code that signs in; nil for client types without a user at a device.
    package var snippet: String?
    /// The URL to claim on this host; nil for client types that claim none.
    package var callback: String?
}
