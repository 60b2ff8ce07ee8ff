/// A developer's own applications, or, for administrators, all of them.
public struct ApplicationsPage: Sendable, Hashable {
    /// The head of the page.
    public var console: ConsoleHead
    /// What has just happened.
    public var notice: String?
    /// The applications, oldest first.
    public var applications: [ApplicationSummary]
    /// Where a new one is registered.
    public var newPath: String

    /// Makes a list.
    public init(
        console: ConsoleHead, notice: String? = nil, applications: [ApplicationSummary], newPath: String
    ) {
        self.console = console
        self.notice = notice
        self.applications = applications
        self.newPath = newPath
    }
}

/// The choice of what a new application is.
public struct ApplicationTypesPage: Sendable, Hashable {
    /// A type to choose.
    public struct Choice: Sendable, Hashable {
        /// The type, as it is sent.
        public var type: String
        /// What it is called.
        public var name: String
        /// What it means.
        public var meaning: String
        /// Where its form is.
        public var path: String

        /// Makes a choice.
        public init(type: String, name: String, meaning: String, path: String) {
            self.type = type
            self.name = name
            self.meaning = meaning
            self.path = path
        }
    }

    /// The head of the page.
    public var console: ConsoleHead
    /// The types.
    public var choices: [Choice]
    /// Where the list is.
    public var applicationsPath: String

    /// Makes a choice of types.
    public init(console: ConsoleHead, choices: [Choice], applicationsPath: String) {
        self.console = console
        self.choices = choices
        self.applicationsPath = applicationsPath
    }
}
