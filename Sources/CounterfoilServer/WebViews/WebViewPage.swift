/// What stands in the place of a page that an application would show inside itself: why, and the way to the browser.
public struct WebViewPage: Sendable, Hashable {
    /// The application around the page.
    public var applicationName: DisplayName
    /// What stands in the place of the application's logo where it has none.
    public var applicationInitials: String
    /// The path of the application's logo.
    public var applicationLogo: String?
    /// The way to the browser, where the request begins anew.
    public var wayToBrowser: WayToBrowser

    /// Makes the page.
    public init(
        applicationName: DisplayName, applicationLogo: String? = nil, wayToBrowser: WayToBrowser
    ) {
        self.applicationName = applicationName
        applicationInitials = applicationName.initials
        self.applicationLogo = applicationLogo
        self.wayToBrowser = wayToBrowser
    }
}
