/// The page that asks whether to continue to a client with the signed-in account; it posts `decision`,
/// `request` and `ticket`.
///
/// The page is shown if no consent is needed, but the redirect URI does not assure which program on the device
/// gets the response (RFC 8252 §8.6). `decision` is `allow`, `deny` or `switch`. `switch` ends the session, so that
/// the user can sign in with another account.
package struct ContinuePage: Sendable, Hashable {
    package var clientName: DisplayName
    /// The initials shown if the client has no logo.
    package var clientInitials: String
    /// The path of the client's logo; nil if it has none.
    package var clientLogo: String?
    package var redirectDestination: RedirectDestination
    package var userDisplayName: DisplayName
    package var userEmail: MaskedEmail?
    /// The path that the form posts to.
    package var action: String
    /// The pending authorization request as a query; the hidden field `request`.
    package var request: String
    /// The form ticket, which proves that the form came from this page; the hidden field `ticket`.
    package var ticket: String
    /// The link from a web-view to the browser, shown with a warning; nil outside a web-view.
    package var openInBrowserLink: OpenInBrowserLink?

    package init(
        clientName: DisplayName, clientLogo: String? = nil,
        redirectDestination: RedirectDestination, userDisplayName: DisplayName, userEmail: MaskedEmail?,
        action: String, request: String, ticket: String, openInBrowserLink: OpenInBrowserLink? = nil
    ) {
        self.clientName = clientName
        clientInitials = clientName.initials
        self.clientLogo = clientLogo
        self.redirectDestination = redirectDestination
        self.userDisplayName = userDisplayName
        self.userEmail = userEmail
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
