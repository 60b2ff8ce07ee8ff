/// A page that the server shows to a person, as a value: what it says, never how it looks.
///
/// An endpoint builds the value, the web layer renders it with a template. Every text in here is plain text that the
/// renderer escapes; names that others chose are ``DisplayName``s.
public enum Page: Sendable, Hashable {
    /// The sign-in form.
    case signIn(SignInPage)
    /// The question whether an application may use the person's account.
    case consent(ConsentPage)
    /// The way back to the application after an answer.
    case goOn(GoOnPage)
    /// Something that went wrong and what to do about it.
    case problem(ProblemPage)
    /// The form that makes the first administrator.
    case setup(SetupPage)
    /// The confirmation that the first administrator exists.
    case setupDone(SetupDonePage)
}

/// The sign-in form; it posts `username`, `password`, `request` and `ticket`.
public struct SignInPage: Sendable, Hashable {
    /// The name of the service that the person signs in to.
    public var siteName: DisplayName
    /// The application that the person comes from, where there is one.
    public var applicationName: DisplayName?
    /// The path that the form posts to.
    public var action: String
    /// The authorization request that waits, as a query; the hidden field `request`.
    public var request: String
    /// The proof that the form came from this page; the hidden field `ticket`.
    public var ticket: String
    /// The user name to start with: from `login_hint`, or as it was typed when the form comes back.
    public var username: String
    /// Why the form came back, in one sentence; the same for an unknown person and for a wrong password.
    public var problem: String?
    /// How long to wait before the next try, in seconds, where tries are too many.
    public var retryAfterSeconds: Int?

    /// Makes the sign-in form.
    public init(
        siteName: DisplayName, applicationName: DisplayName? = nil, action: String, request: String, ticket: String,
        username: String = "", problem: String? = nil, retryAfterSeconds: Int? = nil
    ) {
        self.siteName = siteName
        self.applicationName = applicationName
        self.action = action
        self.request = request
        self.ticket = ticket
        self.username = username
        self.problem = problem
        self.retryAfterSeconds = retryAfterSeconds
    }
}

/// The question whether an application may use the account; it posts `decision`, `request` and `ticket`.
///
/// `decision` is `allow`, `deny` or, to the other action, `switch`. A permission that the person may leave out is a field
/// `permission.SCOPE` with the value `granted`, absent when it was left out.
public struct ConsentPage: Sendable, Hashable {
    /// Where the answer is sent, as far as the person can tell it apart.
    public enum RedirectDestination: Sendable, Hashable {
        /// A program on this computer, by the address literal that was registered (RFC 8252 §7.3).
        case thisComputer(host: String)
        /// A program on this computer, registered as `localhost`, a name that need not lead there (RFC 8252 §8.3).
        case thisComputerByName
        /// The app that owns a private-use scheme (RFC 8252 §7.1).
        case app(scheme: String)
        /// A website, or an app that claimed one of its addresses (RFC 8252 §7.2).
        case website(host: String)
    }

    /// One thing that the application asks to be allowed.
    public struct Permission: Sendable, Hashable {
        /// The scope token that it stands for.
        public var scope: String
        /// What it allows, in words: "See your photos and albums".
        public var title: String
        /// Where it ends, or what it means, in one sentence.
        public var detail: String?
        /// Whether the application can do nothing without it; otherwise the person may leave it out.
        public var required: Bool

        /// Makes a permission.
        public init(scope: String, title: String, detail: String? = nil, required: Bool = true) {
            self.scope = scope
            self.title = title
            self.detail = detail
            self.required = required
        }
    }

    /// The name of the service whose account is asked for.
    public var siteName: DisplayName
    /// The name that the application goes by.
    public var applicationName: DisplayName
    /// Who publishes the application, where it is known.
    public var publisher: DisplayName?
    /// What stands in the place of the application's logo.
    public var applicationInitials: String
    /// What stands in the place of the service's logo.
    public var siteInitials: String
    /// Where the answer goes.
    public var redirectDestination: RedirectDestination
    /// The person who is signed in.
    public var personName: DisplayName
    /// The person's e-mail address, masked.
    public var personEmail: MaskedEmail?
    /// The path that the answer posts to.
    public var action: String
    /// The path that "Not you?" posts to, with `decision=switch`.
    public var switchAccountAction: String
    /// The authorization request that waits, as a query; the hidden field `request`.
    public var request: String
    /// The proof that the form came from this page; the hidden field `ticket`.
    public var ticket: String
    /// What is asked for, in the order in which it is shown.
    public var permissions: [Permission]
    /// How long it holds, in one sentence, such as "Until you disconnect it, at most 180 days".
    public var lifetime: String
    /// That the person allowed the application before, in one sentence.
    public var earlierConsent: String?

    /// Makes the question; the initials follow from the names unless they are given.
    public init(
        siteName: DisplayName, applicationName: DisplayName, publisher: DisplayName? = nil,
        applicationInitials: String? = nil, siteInitials: String? = nil, redirectDestination: RedirectDestination,
        personName: DisplayName, personEmail: MaskedEmail?, action: String, switchAccountAction: String,
        request: String,
        ticket: String, permissions: [Permission], lifetime: String, earlierConsent: String? = nil
    ) {
        self.siteName = siteName
        self.applicationName = applicationName
        self.publisher = publisher
        self.applicationInitials = applicationInitials ?? applicationName.initials
        self.siteInitials = siteInitials ?? siteName.initials
        self.redirectDestination = redirectDestination
        self.personName = personName
        self.personEmail = personEmail
        self.action = action
        self.switchAccountAction = switchAccountAction
        self.request = request
        self.ticket = ticket
        self.permissions = permissions
        self.lifetime = lifetime
        self.earlierConsent = earlierConsent
    }
}

/// An e-mail address that a person recognises and a bystander cannot use: `al•••@example.com`.
public struct MaskedEmail: Sendable, Hashable, CustomStringConvertible {
    /// The address as it may be shown.
    public let description: String

    /// Masks an address: two characters of the local part remain, one where it has fewer than four; the domain remains.
    public init(_ address: String) {
        let at = address.lastIndex(of: "@") ?? address.endIndex
        let local = address[..<at]
        let domain = at == address.endIndex ? "" : DisplayName(String(address[address.index(after: at)...])).description
        let shown = local.prefix(local.count < 4 ? 1 : 2)
        let kept = shown.isEmpty ? "" : DisplayName(String(shown)).description
        description = domain.isEmpty ? "\(kept)•••" : "\(kept)•••@\(domain)"
    }
}

/// The way back to the application: the page goes on by itself and has a button in case it does not.
///
/// It is the answer to the consent form. A redirect there would be stopped by Chromium, which applies `form-action` to the
/// whole chain that a form starts.
public struct GoOnPage: Sendable, Hashable {
    /// What came of the request.
    public enum Kind: Sendable, Hashable {
        /// The application got what it asked for.
        case allowed
        /// The person denied it, and the application got nothing.
        case denied
        /// The service refused it, whatever the person said, and the application got nothing.
        case refused
    }

    /// The name of the service.
    public var siteName: DisplayName
    /// The application that waits for the answer.
    public var applicationName: DisplayName
    /// The whole redirect URL, with the authorization response in it.
    public var destination: String
    /// What came of the request.
    public var kind: Kind

    /// Makes the way back.
    public init(siteName: DisplayName, applicationName: DisplayName, destination: String, kind: Kind) {
        self.siteName = siteName
        self.applicationName = applicationName
        self.destination = destination
        self.kind = kind
    }
}

/// Something that went wrong, said so that the person knows what to do; nothing of the request is reflected.
public struct ProblemPage: Sendable, Hashable {
    /// The name of the service.
    public var siteName: DisplayName
    /// The HTTP status that the page is sent with.
    public var status: Int
    /// What is wrong, as a heading: "This sign-in has expired".
    public var title: String
    /// What happened.
    public var explanation: String
    /// What the person can do now.
    public var advice: String
    /// What to quote to whoever runs the service, so that they find it in the log.
    public var requestID: String?

    /// Makes a problem page.
    public init(
        siteName: DisplayName, status: Int, title: String, explanation: String, advice: String, requestID: String? = nil
    ) {
        self.siteName = siteName
        self.status = status
        self.title = title
        self.explanation = explanation
        self.advice = advice
        self.requestID = requestID
    }
}

/// The form behind the one-time link: it makes the first administrator and posts `username`, `email`, `password`, `token`.
public struct SetupPage: Sendable, Hashable {
    /// The name of the service.
    public var siteName: DisplayName
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

    /// Makes the setup form.
    public init(
        siteName: DisplayName, action: String, token: String, username: String = "", email: String = "",
        problem: String? = nil
    ) {
        self.siteName = siteName
        self.action = action
        self.token = token
        self.username = username
        self.email = email
        self.problem = problem
    }
}

/// The confirmation that the first administrator exists.
public struct SetupDonePage: Sendable, Hashable {
    /// The name of the service.
    public var siteName: DisplayName
    /// The user name that the administrator signs in with.
    public var username: String

    /// Makes the confirmation.
    public init(siteName: DisplayName, username: String) {
        self.siteName = siteName
        self.username = username
    }
}
