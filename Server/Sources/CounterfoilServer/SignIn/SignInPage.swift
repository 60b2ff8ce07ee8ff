/// The sign-in form; it posts `username`, `password`, `request` and `ticket`.
///
/// With a passkey, the script of the page posts `passkey` in place of `username` and `password`.
///
/// In a browser that can create a passkey on this device, the script sets `can_create_passkey` to `true`.
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
    /// Whether ``problem`` is about a passkey or a second factor, and not about what was typed.
    package var isPasskeyWrong: Bool
    /// The number of seconds to wait before the next attempt, if there were too many failures.
    package var retryAfterSeconds: Int?
    /// The values with which the script signs in with a passkey; nil if the server has none.
    package var passkeys: Passkeys?
    /// The signed-in user who confirms with a passkey, without a username and a password; nil for a sign-in.
    ///
    /// The button `cancel` with the value `true` ends the request of the client.
    package var confirming: DisplayName?
    /// The user who signed in before in this browser, shown as a hint.
    ///
    /// A button `forget` with the value `true` deletes the hint.
    package var earlier: Earlier?
    /// The link from a web-view to the browser, shown with a warning; nil outside a web-view.
    package var openInBrowserLink: OpenInBrowserLink?
    /// An explanation in one or two sentences for a user who does not expect this page.
    package var notice: String?
    /// The link to the page of the owner that signs users in; nil if the owner has none.
    package var external: ExternalLink?
    /// The way to the page for a user who has forgotten the password; nil if the server offers none.
    package var recovery: Recovery?

    /// The link to the page of the owner that signs users in.
    package struct ExternalLink: Sendable, Hashable {
        /// The name of the page.
        package var name: DisplayName
        /// The path and query that lead there.
        package var address: String

        package init(name: DisplayName, address: String) {
            self.name = name
            self.address = address
        }
    }

    /// The form whose button leads to the page for a user who has forgotten the password.
    package struct Recovery: Sendable, Hashable {
        /// The path that the form posts to.
        package var action: String
        /// The path and query at which the sign-in continues; the hidden field `destination`.
        package var destination: String

        package init(action: String, destination: String) {
            self.action = action
            self.destination = destination
        }
    }

    /// The button with which a person asks for an account; nil if the server does not offer that.
    package var signUp: SignUpOffer?

    /// The form with the button to the page on which a person asks for an account.
    package struct SignUpOffer: Sendable, Hashable {
        /// The path that the form posts to.
        package var action: String
        /// The pending authorization request; the hidden field `request`.
        package var request: String

        package init(action: String, request: String) {
            self.action = action
            self.request = request
        }
    }

    /// The checkbox with which the user chooses that the session cookie is persistent.
    package struct StayBox: Sendable, Hashable {
        package var isTicked: Bool

        package init(isTicked: Bool = false) { self.isTicked = isTicked }
    }

    /// The values with which the script of the page signs in with a passkey.
    package struct Passkeys: Sendable, Hashable {
        /// The options in JSON (WebAuthn §5.1.9).
        package var options: String
        /// The domain of the passkeys, their RP ID.
        package var domain: String
        /// The credential ID of a passkey that no user has any more, of which the script notifies the browser
        /// (WebAuthn §5.1.10).
        package var unknown: String?

        package init(options: String, domain: String, unknown: String? = nil) {
            self.options = options
            self.domain = domain
            self.unknown = unknown
        }
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
        username: String = "", stayBox: StayBox? = nil, problem: String? = nil, isPasskeyWrong: Bool = false,
        retryAfterSeconds: Int? = nil,
        passkeys: Passkeys? = nil, confirming: DisplayName? = nil, earlier: Earlier? = nil,
        openInBrowserLink: OpenInBrowserLink? = nil, notice: String? = nil, external: ExternalLink? = nil,
        recovery: Recovery? = nil, signUp: SignUpOffer? = nil
    ) {
        self.clientName = clientName
        self.action = action
        self.request = request
        self.ticket = ticket
        self.username = username
        self.stayBox = stayBox
        self.problem = problem
        self.isPasskeyWrong = isPasskeyWrong
        self.retryAfterSeconds = retryAfterSeconds
        self.passkeys = passkeys
        self.confirming = confirming
        self.earlier = earlier
        self.openInBrowserLink = openInBrowserLink
        self.notice = notice
        self.external = external
        self.recovery = recovery
        self.signUp = signUp
    }
}

package enum SignInMessage: String, LocalizationKey {
    /// The username or the password is wrong; the text does not say which of them.
    case wrong = "sign-in.wrong"
    /// The passkey does not sign in here.
    case wrongPasskey = "sign-in.wrong-passkey"
    /// The passkey does not confirm the sign-in.
    case wrongPasskeyToConfirm = "sign-in.confirm-wrong"
    /// The password is right, but does not suffice, and the user has a passkey.
    case passkeyNeeded = "sign-in.passkey-needed"
    /// The password is right, but the second factor of the user is lost.
    case secondFactorLost = "second-factor.unavailable"
    /// The page for the code was open for too long, or the account has changed meanwhile.
    case tooLate = "second-factor.too-late"
    /// Too many attempts failed, so the server did not verify the password.
    case tooManyAttempts = "sign-in.too-many-attempts"
    /// The session had ended when the user submitted another form, so that form was not processed.
    case formLost = "sign-in.form-lost"
    /// The user is signed in, but not recently enough for the page.
    case signInAgain = "sign-in.again"
    /// The user has a role, and has signed in at another issuer.
    case signInHere = "sign-in.here"
}

extension SignInPage: Page {
    package static let template = "sign-in"
    package var script: PageScript? { passkeys == nil ? nil : .passkeys }

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        [
            "usernameKept": !username.isEmpty, "isPasswordWrong": problem != nil && !isPasskeyWrong,
            "wait": retryAfterSeconds.map { Localizer(frame.language)(.wait(seconds: $0)) },
        ]
    }
}
