/// The form behind the one-time link: it makes the first administrator and posts `username`, `email`, `password`, `token`.
public struct SetupPage: Sendable, Hashable {
    /// The path that the form posts to.
    public var action: String
    /// The secret of the one-time link; the hidden field `token`.
    public var token: String
    /// The user name as it was typed, when the form comes back.
    public var username: String
    /// The e-mail address as it was typed, when the form comes back.
    public var email: String
    /// Why the form came back, in one sentence.
    public var problem: String?
    /// The field that it came back for.
    public var wrongField: Field?

    /// What can be wrong with the form.
    public enum Field: Sendable, Hashable {
        /// The user name.
        case username
        /// The e-mail address.
        case email
        /// The password.
        case password
    }

    /// Makes the setup form.
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
