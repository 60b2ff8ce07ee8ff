/// The form that creates the first owner; it posts `username`, `email`, `password` and `token`.
package struct SetupPage: Sendable, Hashable {
    /// The path that the form posts to.
    package var action: String
    /// The secret of the one-time link; the hidden field `token`.
    package var token: String
    /// The username that was typed, when the form is shown again.
    package var username: String
    /// The email address that was typed, when the form is shown again.
    package var email: String
    /// The error, in one sentence, when the form is shown again.
    package var problem: String?
    /// The field that ``problem`` is about; nil if there is no error.
    package var wrongField: Field?

    /// The fields of the form whose values the server can reject.
    package enum Field: Sendable, Hashable {
        case username
        case email
        case password
    }

    package init(
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

extension SetupPage: Page {
    package static let template = "setup"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        let field = wrongField ?? .username
        return [
            "atUsername": field == .username, "atEmail": field == .email, "atPassword": field == .password,
        ]
    }
}
