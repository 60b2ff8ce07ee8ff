/// The way from a web-view to the browser, for a page that is shown in one.
public struct WayToBrowser: Sendable, Hashable {
    /// The address at which the page is reached in the browser, to be opened by hand.
    public var address: String
    /// What opens that address in the browser from inside the web-view; nil where nothing is known to.
    public var opening: String?

    /// Makes a way.
    public init(address: String, opening: String? = nil) {
        self.address = address
        self.opening = opening
    }

    init(_ address: String, from webView: WebView) {
        let opening = webView.openInBrowserURL(for: address)
        self.init(address: address, opening: opening == address ? nil : opening)
    }
}
