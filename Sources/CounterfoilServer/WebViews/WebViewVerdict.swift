import HTTPTypes

/// The treatment of a page in a web-view, by the policy of the client (RFC 8252 §8.12).
///
/// It helps users and developers and is not a security boundary. It depends on what a user agent says of
/// itself, and a malicious app says that it is a browser.
package enum WebViewVerdict: Sendable, Hashable {
    /// The page is shown.
    case passed
    /// The page is shown with a warning.
    case warned(WebView)
    /// Another page is shown, with the link to the browser.
    case blocked(WebView)

    /// The link to the browser for a warning; nil if there is no warning.
    package func openInBrowserLink(_ address: String) -> OpenInBrowserLink? {
        guard case .warned(let webView) = self else { return nil }
        return OpenInBrowserLink(address, from: webView)
    }

    package init(on request: IncomingRequest, under policy: WebViewPolicy) {
        let fields = request.head.headerFields
        let webView = WebView(
            userAgent: fields[.userAgent],
            requestedWith: HTTPField.Name("X-Requested-With").flatMap { fields[$0] })
        switch (webView, policy) {
        case (nil, _), (_?, .allow): self = .passed
        case (let webView?, .warn): self = .warned(webView)
        case (let webView?, .block): self = .blocked(webView)
        }
    }
}
