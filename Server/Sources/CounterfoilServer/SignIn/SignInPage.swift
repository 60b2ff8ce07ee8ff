/// The sign-in form; it posts `username`, `password`, `request` and `ticket`.
///
/// If the box "Keep me signed in on this device" is ticked, it also posts `stay_signed_in` with the value `true`.
package struct SignInPage: Sendable, Hashable {
    /// The name of the client that the user signs in to; nil if the user signs in to this server itself.
    package var clientName: DisplayName?
    /// The path that the form posts to.
    package var action: String
    /// The pending authorization request as a query; the hidden field `request`.
    package var request: String
    /// The form ticket, which proves that the form came from this page; the hidden field `ticket`.
    package var ticket: String
    /// The initial username: as typed when the form is shown again, from `login_hint`, or of the user in ``earlier``.
    package var username: String
    /// The checkbox "Keep me signed in on this device"; nil if the server offers no choice.
    package var stayBox: StayBox?
    /// The error, in one sentence, when the form is shown again; the same for an unknown user and a wrong
    /// password.
    package var problem: String?
    /// The number of seconds to wait before the next attempt, if there were too many failures.
    package var retryAfterSeconds: Int?
    /// The user who signed in before in this browser, shown as a hint.
    ///
    /// A button `forget` with the value `true` deletes the hint.
    package var earlier: Earlier?
    /// The link from a web-view to the browser, shown with a warning; nil outside a web-view.
    package var openInBrowserLink: OpenInBrowserLink?
    /// An explanation in one or two sentences for a user who does not expect this page.
    package var notice: String?

    /// The checkbox with which the user chooses that the session cookie is persistent.
    package struct StayBox: Sendable, Hashable {
        package var isTicked: Bool

        package init(isTicked: Bool = false) { self.isTicked = isTicked }
    }

    /// The hint about the user who signed in before.
    package struct Earlier: Sendable, Hashable {
        package var name: DisplayName
        package var email: MaskedEmail?

        package init(name: DisplayName, email: MaskedEmail? = nil) {
            self.name = name
            self.email = email
        }
    }

    package init(
        clientName: DisplayName? = nil, action: String, request: String, ticket: String,
        username: String = "", stayBox: StayBox? = nil, problem: String? = nil, retryAfterSeconds: Int? = nil,
        earlier: Earlier? = nil, openInBrowserLink: OpenInBrowserLink? = nil, notice: String? = nil
    ) {
        self.clientName = clientName
        self.action = action
        self.request = request
        self.ticket = ticket
        self.username = username
        self.stayBox = stayBox
        self.problem = problem
        self.retryAfterSeconds = retryAfterSeconds
        self.earlier = earlier
        self.openInBrowserLink = openInBrowserLink
        self.notice = notice
    }
}

package enum SignInMessage: String, LocalizationKey {
    /// The username or the password is wrong; the text does not say which of them.
    case wrong = "sign-in.wrong"
    /// Too many attempts failed, so the server did not verify the password.
    case tooManyAttempts = "sign-in.too-many-attempts"
    /// The session had ended when the user submitted another form, so that form was not processed.
    case formLost = "sign-in.form-lost"
    /// The user is signed in, but not recently enough for the page.
    case signInAgain = "sign-in.again"
}

extension SignInPage: Page {
    package static let template = "sign-in"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        [
            "usernameKept": !username.isEmpty,
            "wait": retryAfterSeconds.map { Localizer(frame.language)(.wait(seconds: $0)) },
        ]
    }
}
