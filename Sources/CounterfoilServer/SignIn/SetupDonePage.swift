/// The confirmation that the first administrator was created.
package struct SetupDonePage: Sendable, Hashable {
    /// The username of the administrator.
    package var username: String
    /// The path of the sign-in page.
    package var signInPath: String

    package init(username: String, signInPath: String) {
        self.username = username
        self.signInPath = signInPath
    }
}
