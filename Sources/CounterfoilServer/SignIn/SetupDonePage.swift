/// The confirmation that the first administrator was created.
public struct SetupDonePage: Sendable, Hashable {
    /// The username of the administrator.
    public var username: String
    /// The path of the sign-in page.
    public var signInPath: String

    /// Creates the page.
    public init(username: String, signInPath: String) {
        self.username = username
        self.signInPath = signInPath
    }
}
