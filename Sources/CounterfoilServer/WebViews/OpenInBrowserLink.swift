/// The link from a web-view to the browser, for a page that is shown in a web-view.
package struct OpenInBrowserLink: Sendable, Hashable {
    /// The URL of the page, for opening it manually in the browser.
    package var address: String
    /// The URL that opens the page in the browser from inside the web-view; nil if none is known.
    package var opening: String?

    /// Creates a link.
    package init(address: String, opening: String? = nil) {
        self.address = address
        self.opening = opening
    }

    init(_ address: String, from webView: WebView) {
        let opening = webView.openInBrowserURL(for: address)
        self.init(address: address, opening: opening == address ? nil : opening)
    }
}
