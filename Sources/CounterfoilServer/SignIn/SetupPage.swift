/// The form for the first administrator; it posts `username`, `email`, `password` and `token`.
public struct SetupPage: Sendable, Hashable {
    /// The path that the form posts to.
    public var action: String
    /// The secret of the one-time link; the hidden field `token`.
    public var token: String
    /// The username that was typed, when the form is shown again.
    public var username: String
    /// The email address that was typed, when the form is shown again.
    public var email: String
    /// The error, in one sentence, when the form is shown again.
    public var problem: String?
    /// The field with the error.
    public var wrongField: Field?

    /// The fields that can have an error.
    public enum Field: Sendable, Hashable {
        /// The username.
        case username
        /// The email address.
        case email
        /// The password.
        case password
    }

    /// Creates the page.
    public init(
        action: String, token: String, username: String = "", email: String = "",
        problem: String? = nil, wrongField: Field? = nil
    ) {
        self.action = action
        self.token = token
        self.username = username
        self.email = email
        self.problem = problem
        self.wrongField = wrongField
    }
}
