import CounterfoilServer

/// A developer's own applications, or, for administrators, all of them.
package struct ApplicationsPage: ConsolePage, Hashable {
    package static let template = "applications"

    /// The head of the page.
    package var console: ConsoleHead
    /// What has just happened.
    package var notice: String?
    /// The applications, oldest first.
    package var applications: [ApplicationSummary]
    /// Where a new one is registered.
    package var newPath: String
}

/// The choice of what a new application is.
package struct ApplicationTypesPage: ConsolePage, Hashable {
    package static let template = "application-types"

    /// A type to choose.
    package struct Choice: Sendable, Hashable {
        /// The type, as it is sent.
        package var type: String
        /// What it is called.
        package var name: String
        /// What it means.
        package var meaning: String
        /// Where its form is.
        package var path: String
    }

    /// The head of the page.
    package var console: ConsoleHead
    /// The types.
    package var choices: [Choice]
    /// Where the list is.
    package var applicationsPath: String
}
