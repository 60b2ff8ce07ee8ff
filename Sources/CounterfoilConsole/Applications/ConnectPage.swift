import CounterfoilServer

/// How to connect an application to this server: the exact values, and a command that signs in with them.
package struct ConnectPage: ConsolePage, Hashable {
    package static let template = "connect"

    /// A value to copy.
    package struct Value: Sendable, Hashable {
        /// What it is, in words.
        package var name: String
        /// The value.
        package var value: String

        /// Makes a value.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The head of the page.
    package var console: ConsoleHead
    /// The application.
    package var application: ApplicationSummary
    /// The pages about it.
    package var paths: ApplicationPaths
    /// The values.
    package var values: [Value]
    /// The command line that signs in; nil for types that it cannot sign in for.
    package var command: String?
    /// The lines of Swift that sign in; nil for types that have no people at a device.
    package var snippet: String?
    /// The address to claim on this host; nil for types that claim none.
    package var callback: String?
}
