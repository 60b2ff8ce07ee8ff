/// How to connect an application to this server: the exact values, and a command that signs in with them.
public struct ConnectPage: Sendable, Hashable {
    /// A value to copy.
    public struct Value: Sendable, Hashable {
        /// What it is, in words.
        public var name: String
        /// The value.
        public var value: String

        /// Makes a value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The head of the page.
    public var console: ConsoleHead
    /// The application.
    public var application: ApplicationSummary
    /// The pages about it.
    public var paths: ApplicationPaths
    /// The values.
    public var values: [Value]
    /// The command line that signs in; nil for types that it cannot sign in for.
    public var command: String?
    /// The lines of Swift that sign in; nil for types that have no people at a device.
    public var snippet: String?
    /// The address to claim on this host; nil for types that claim none.
    public var callback: String?

    /// Makes a page.
    public init(
        console: ConsoleHead, application: ApplicationSummary, paths: ApplicationPaths, values: [Value],
        command: String? = nil, snippet: String? = nil, callback: String? = nil
    ) {
        self.console = console
        self.application = application
        self.paths = paths
        self.values = values
        self.command = command
        self.snippet = snippet
        self.callback = callback
    }
}
