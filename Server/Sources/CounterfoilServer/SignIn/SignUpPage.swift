/// The page on which a person asks for an account; it posts `email`, `decision`, `request` and `ticket`.
///
/// `decision` is `send`, to get a mail with a link, or `sign-in` to sign in with an account instead.
package struct SignUpPage: Sendable, Hashable {
    /// The name of the client to which the person continues; nil for none.
    package var clientName: DisplayName?
    /// The path that the form posts to.
    package var action: String
    /// The pending authorization request as a query; the hidden field `request`.
    package var request: String
    /// The form ticket, which proves that the form came from this page; the hidden field `ticket`.
    package var ticket: String
    /// The email address that was typed, when the form is shown again.
    package var email: String
    /// The error, in one sentence, when the form is shown again.
    package var problem: String?
    /// The time to wait before the next attempt, in seconds, if there were too many.
    package var retryAfterSeconds: Int?
    /// The link from a web-view to the browser, shown with a warning; nil outside a web-view.
    package var openInBrowserLink: OpenInBrowserLink?

    package init(
        clientName: DisplayName? = nil, action: String, request: String, ticket: String, email: String = "",
        problem: String? = nil, retryAfterSeconds: Int? = nil, openInBrowserLink: OpenInBrowserLink? = nil
    ) {
        self.clientName = clientName
        self.action = action
        self.request = request
        self.ticket = ticket
        self.email = email
        self.problem = problem
        self.retryAfterSeconds = retryAfterSeconds
        self.openInBrowserLink = openInBrowserLink
    }
}

extension SignUpPage: Page {
    package static let template = "sign-up"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        ["wait": retryAfterSeconds.map { Localizer(frame.language)(.wait(seconds: $0)) }]
    }
}

/// The page after a person has asked for an account, which is the same whether the address has one or not.
package struct SignUpSentPage: Page, Hashable {
    package static let template = "sign-up-sent"

    /// The email address, as the server reads it.
    package var email: String
    /// The time for which the link in the mail is valid, as text.
    package var duration: String

    package init(email: String, duration: String) {
        self.email = email
        self.duration = duration
    }
}

/// The page to which the link leads, on which a person creates an account; it posts `username`, `display_name`,
/// `password`, `terms`, `link`, `secret` and `ticket`.
package struct NewAccountPage: Sendable, Hashable {
    /// The fields whose values the server can reject.
    package enum Field: Sendable, Hashable {
        case username
        case displayName
        case password
        case terms
    }

    /// The terms that the person must accept.
    package struct TermsBox: Sendable, Hashable {
        /// The https URL of the terms.
        package var uri: String
        /// The value of the box.
        package var version: String

        package init(uri: String, version: String) {
            self.uri = uri
            self.version = version
        }
    }

    /// The path that the form posts to.
    package var action: String
    /// The kind of the link; the hidden field `link`.
    package var link: String
    /// The secret of the link; the hidden field `secret`.
    package var secret: String
    /// The form ticket, which proves that the form came from this page; the hidden field `ticket`.
    package var ticket: String
    /// The email address of the account; nil for none.
    package var email: String?
    /// The name of the client to which the person is invited; nil for none.
    package var clientName: DisplayName?
    /// The username that was typed, when the form is shown again.
    package var username = ""
    /// The display name that was typed, when the form is shown again.
    package var displayName = ""
    /// The box of the terms; nil if there are none.
    package var terms: TermsBox?
    /// The error, in one sentence, when the form is shown again.
    package var problem: String?
    /// The field that ``problem`` is about; nil if it is about none.
    package var wrongField: Field?
    /// The time to wait before the next attempt, in seconds, if there were too many.
    package var retryAfterSeconds: Int?

    package init(
        action: String, link: String, secret: String, ticket: String, email: String? = nil,
        clientName: DisplayName? = nil, terms: TermsBox? = nil
    ) {
        self.action = action
        self.link = link
        self.secret = secret
        self.ticket = ticket
        self.email = email
        self.clientName = clientName
        self.terms = terms
    }
}

extension NewAccountPage: Page {
    package static let template = "new-account"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        let field = wrongField ?? .username
        return [
            "atUsername": field == .username, "atDisplayName": field == .displayName,
            "atPassword": field == .password, "atTerms": field == .terms,
            "isUsernameWrong": wrongField == .username,
            "wait": retryAfterSeconds.map { Localizer(frame.language)(.wait(seconds: $0)) },
        ]
    }
}
