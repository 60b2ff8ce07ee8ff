/// The question whether to go on to a client of this service with the account that is signed in; it posts `decision`, `request`
/// and `ticket`.
///
/// RFC 8252 §8.6: shown where a redirect URI does not assure which program on the device gets the answer, and no consent is
/// needed. `decision` is `allow`, `deny` or `switch`.
public struct ContinuePage: Sendable, Hashable {
    /// The name of the client.
    public var applicationName: DisplayName
    /// The initials shown when the client has no logo.
    public var applicationInitials: String
    /// The path of the logo.
    public var applicationLogo: String?
    /// Where the answer goes.
    public var redirectDestination: ConsentPage.RedirectDestination
    /// The user who is signed in.
    public var personName: DisplayName
    /// The email address of the user, masked.
    public var personEmail: MaskedEmail?
    /// The path that the form posts to.
    public var action: String
    /// The authorization request that waits, as a query; the hidden field `request`.
    public var request: String
    /// The proof that the form came from this page; the hidden field `ticket`.
    public var ticket: String
    /// The way to the browser from a web-view in which the page is shown with a warning; nil anywhere else.
    public var wayToBrowser: WayToBrowser?

    /// Makes the question.
    public init(
        applicationName: DisplayName, applicationLogo: String? = nil,
        redirectDestination: ConsentPage.RedirectDestination, personName: DisplayName, personEmail: MaskedEmail?,
        action: String, request: String, ticket: String, wayToBrowser: WayToBrowser? = nil
    ) {
        self.applicationName = applicationName
        applicationInitials = applicationName.initials
        self.applicationLogo = applicationLogo
        self.redirectDestination = redirectDestination
        self.personName = personName
        self.personEmail = personEmail
        self.action = action
        self.request = request
        self.ticket = ticket
        self.wayToBrowser = wayToBrowser
    }
}
