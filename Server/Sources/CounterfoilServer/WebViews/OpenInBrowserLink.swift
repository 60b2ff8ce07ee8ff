/// A link on a page in an embedded web-view that opens a page of this server in the browser.
package struct OpenInBrowserLink: Sendable, Hashable {
    /// The URL of the page to open, which users can also copy to the browser.
    package var address: String
    /// The URL that makes the web-view open the page in the browser; nil if the platform has no such URL.
    package var opening: String?

    package init(address: String, opening: String? = nil) {
        self.address = address
        self.opening = opening
    }

    init(_ address: String, from webView: WebView) {
        let opening = webView.openInBrowserURL(for: address)
        self.init(address: address, opening: opening == address ? nil : opening)
    }
}
