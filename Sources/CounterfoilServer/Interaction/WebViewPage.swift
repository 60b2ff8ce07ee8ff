/// What stands in the place of a page that an application would show inside itself: why, and the way to the browser.
public struct WebViewPage: Sendable, Hashable {
    /// The application around the page.
    public var applicationName: DisplayName
    /// What stands in the place of the application's logo where it has none.
    public var applicationInitials: String
    /// The path of the application's logo.
    public var applicationLogo: String?
    /// The address at which the request begins anew, to be opened by hand.
    public var address: String
    /// What opens that address in the browser from inside the web-view; nil where nothing is known to.
    public var browserAddress: String?

    /// Makes the page.
    public init(
        applicationName: DisplayName, applicationLogo: String? = nil, address: String, browserAddress: String? = nil
    ) {
        self.applicationName = applicationName
        applicationInitials = applicationName.initials
        self.applicationLogo = applicationLogo
        self.address = address
        self.browserAddress = browserAddress
    }
}
