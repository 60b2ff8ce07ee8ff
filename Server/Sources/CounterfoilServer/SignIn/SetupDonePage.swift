/// The confirmation that the first owner was created.
package struct SetupDonePage: Sendable, Hashable {
    package var username: String
    /// The path of the sign-in page, to which the button of this page leads.
    package var signInPath: String

    package init(username: String, signInPath: String) {
        self.username = username
        self.signInPath = signInPath
    }
}

extension SetupDonePage: Page { package static let template = "setup-done" }
