import CounterfoilProtocol
import CounterfoilStore
import HTTPTypes

/// The error of a request from an embedded web-view that the policy of its client forbids.
///
/// The user gets a page that leads to the browser.
struct BlockedWebView: Error {
    let client: ClientIdentifier
    let page: WebViewPage
}

extension BlockedWebView: Refusing {
    var refusal: Refusal {
        Refusal(
            OAuthError(.accessDenied, nil, reason: "the policy of the client forbids this embedded web-view"),
            to: Reply(.forbidden, .page(page)), refusedBecause: .webView, client: client)
    }
}
