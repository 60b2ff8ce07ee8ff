/// The question whether to sign out; it posts `request`, `ticket` and `decision`, which is `sign-out` or `stay`.
///
/// OpenID Connect RP-Initiated Logout §2: asked unless the application has shown that it means this very session. Where a form of
/// another site brought the request, the browser has kept back the cookie that says who is signed in: the page then posts the
/// request once more by itself, with `decision=ask`, so that nothing of it ever stands in an address.
public struct SignOutPage: Sendable, Hashable {
    /// Who is signed in; nil while that is not known.
    public var personName: DisplayName?
    /// The application that asks for it, where one is known.
    public var applicationName: DisplayName?
    /// The path that the form posts to.
    public var action: String
    /// The request that waits, as a query; the hidden field `request`.
    public var request: String
    /// The proof that the form came from this page.
    ///
    /// It is the hidden field `ticket`, and empty while nobody is known.
    public var ticket: String

    /// Makes the question.
    public init(
        personName: DisplayName?, applicationName: DisplayName? = nil, action: String, request: String, ticket: String
    ) {
        self.personName = personName
        self.applicationName = applicationName
        self.action = action
        self.request = request
        self.ticket = ticket
    }
}

/// The confirmation that nobody is signed in in this browser any more.
public struct SignedOutPage: Sendable, Hashable {
    /// The application that the person comes from, where one is known.
    public var applicationName: DisplayName?
    /// Where the way leads back to it; nil when it has named no address of its own.
    public var destination: String?
    /// Whether the page goes there by itself; otherwise it has a button.
    public var goesOn: Bool
    /// The host that the way leads to, where the publisher of the client is not verified and the user is to choose.
    public var host: String?
    /// The path of the sign-in page.
    public var signInPath: String

    /// Makes the confirmation.
    public init(
        applicationName: DisplayName? = nil, destination: String? = nil, goesOn: Bool = false, host: String? = nil,
        signInPath: String
    ) {
        self.applicationName = applicationName
        self.destination = destination
        self.goesOn = goesOn
        self.host = host
        self.signInPath = signInPath
    }
}
