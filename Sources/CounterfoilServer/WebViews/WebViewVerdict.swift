import HTTPTypes

/// What becomes of a page that would be shown inside a web-view, by the policy of the application (RFC 8252 §8.12).
///
/// Help for people and for developers who did not know better, never a boundary: what it goes by is what a user agent says
/// of itself, and an application that wants to read what is typed says that it is a browser.
package enum WebViewVerdict: Sendable, Hashable {
    /// It is shown.
    case passed
    /// It is shown with a warning.
    case warned(WebView)
    /// Another page is shown, which leads to the browser.
    case blocked(WebView)

    /// The way to the browser that goes with a warning; nil where nobody is warned.
    package func wayToBrowser(_ address: String) -> WayToBrowser? {
        guard case .warned(let webView) = self else { return nil }
        return WayToBrowser(address, from: webView)
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
