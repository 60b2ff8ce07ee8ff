/// The confirmation that the first administrator exists.
public struct SetupDonePage: Sendable, Hashable {
    /// The user name that the administrator signs in with.
    public var username: String

    /// Makes the confirmation.
    public init(username: String) {
        self.username = username
    }
}
