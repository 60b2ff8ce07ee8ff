/// The page that asks whether to continue to a client with the signed-in account; it posts `decision`,
/// `request` and `ticket`.
///
/// The page is shown if no consent is needed, but the redirect URI does not assure which program on the device
/// gets the response (RFC 8252 §8.6). `decision` is `allow`, `deny` or `switch`. `switch` ends the session, so that
/// the user can sign in with another account.
package struct ContinuePage: Sendable, Hashable {
    package var applicationName: DisplayName
    /// The initials shown if the client has no logo.
    package var applicationInitials: String
    /// The path of the client's logo; nil if it has none.
    package var applicationLogo: String?
    package var redirectDestination: RedirectDestination
    package var personName: DisplayName
    package var personEmail: MaskedEmail?
    /// The path that the form posts to.
    package var action: String
    /// The pending authorization request as a query; the hidden field `request`.
    package var request: String
    /// The form ticket, which proves that the form came from this page; the hidden field `ticket`.
    package var ticket: String
    /// The link from a web-view to the browser, shown with a warning; nil outside a web-view.
    package var openInBrowserLink: OpenInBrowserLink?

    package init(
        applicationName: DisplayName, applicationLogo: String? = nil,
        redirectDestination: RedirectDestination, personName: DisplayName, personEmail: MaskedEmail?,
        action: String, request: String, ticket: String, openInBrowserLink: OpenInBrowserLink? = nil
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
        self.openInBrowserLink = openInBrowserLink
    }
}

extension ContinuePage: Page {
    package static let template = "continue"

    package func values(in frame: Frame) -> [String: (any Sendable)?] {
        ["destination": DestinationValues(redirectDestination)]
    }
}
