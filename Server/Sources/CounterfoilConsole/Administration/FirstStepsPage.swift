import CounterfoilServer

/// The steps from an empty server to one that apps use, for its first administrator.
package struct FirstStepsPage: ConsolePage, Hashable {
    package static let template = "first-steps"

    package var console: ConsoleHead
    package var paths: AdministrationPaths
    /// The path of the registration form.
    package var newPath: String
    /// The paths of the forms for a new scope and a new API.
    package var newScopePath: String
    package var newAPIPath: String
}
