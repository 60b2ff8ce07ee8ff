/// The confirmation that the first administrator exists.
public struct SetupDonePage: Sendable, Hashable {
    /// The user name that the administrator signs in with.
    public var username: String
    /// Where they sign in.
    public var signInPath: String

    /// Makes the confirmation.
    public init(username: String, signInPath: String) {
        self.username = username
        self.signInPath = signInPath
    }
}
