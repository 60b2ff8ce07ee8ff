/// The page that replaces another page in a web-view: it gives the reason and the link to the browser.
package struct WebViewPage: Sendable, Hashable {
    /// The name of the client.
    package var applicationName: DisplayName
    /// The initials shown if the client has no logo.
    package var applicationInitials: String
    /// The path of the client's logo.
    package var applicationLogo: String?
    /// The link to the browser, where the request starts again.
    package var openInBrowserLink: OpenInBrowserLink

    /// Creates the page.
    package init(
        applicationName: DisplayName, applicationLogo: String? = nil, openInBrowserLink: OpenInBrowserLink
    ) {
        self.applicationName = applicationName
        applicationInitials = applicationName.initials
        self.applicationLogo = applicationLogo
        self.openInBrowserLink = openInBrowserLink
    }
}
