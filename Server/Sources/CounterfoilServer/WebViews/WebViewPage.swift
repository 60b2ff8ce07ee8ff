/// The page that is shown in a web-view instead of a page that the client's policy blocks there.
///
/// It explains the reason and has a link that continues in the browser.
package struct WebViewPage: Sendable, Hashable {
    package var clientName: DisplayName
    /// The initials of the client, which are shown if it has no logo.
    package var clientInitials: String
    /// The path of the client's logo; nil if it has none.
    package var clientLogo: String?
    /// The link that starts the authorization request again in the browser.
    package var openInBrowserLink: OpenInBrowserLink

    package init(
        clientName: DisplayName, clientLogo: String? = nil, openInBrowserLink: OpenInBrowserLink
    ) {
        self.clientName = clientName
        clientInitials = clientName.initials
        self.clientLogo = clientLogo
        self.openInBrowserLink = openInBrowserLink
    }
}

extension WebViewPage: Page { package static let template = "web-view" }
