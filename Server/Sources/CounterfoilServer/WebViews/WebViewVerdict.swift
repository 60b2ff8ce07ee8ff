package import CounterfoilStore
import HTTPTypes

/// The decision whether to show a page to a user agent that may be a web-view (RFC 8252 §8.12).
///
/// It depends on the policy of the client, and on header fields that the user agent sends. A malicious app can
/// send the fields of a browser. The decision therefore helps users and developers but is not a security
/// boundary.
package enum WebViewVerdict: Sendable, Hashable {
    /// The page is shown, because the user agent is not a web-view or the policy allows web-views.
    case passed
    /// The page is shown with a warning.
    case warned(WebView)
    /// A ``WebViewPage`` is shown instead, with a link to the browser.
    case blocked(WebView)

    /// Returns the link in the warning, which opens the given URL in the browser; nil if no warning is shown.
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
