import CounterfoilPlatform
import Crypto

/// The page that a loopback receiver, the client's HTTP server for callbacks, sends in response to a request.
///
/// The template is `Pages/page.html`, its style `Pages/page.css`. The page never contains anything from the request.
struct BrowserPage: Sendable, Hashable {
    /// The icon at the top of the page; `page.html` uses the raw value as a CSS class.
    enum Icon: String {
        case done
        case stopped
        case warning
    }

    let mark: Icon
    let heading: String
    let text: String
    let advice: String

    /// The page for the expected callback with a code: the user allowed the request.
    static let received = BrowserPage(
        mark: .done, heading: "You can close this tab",
        text: "The app received the response.",
        advice: "Go back to the app to continue.")

    /// The page for the expected callback of a sign-out: the session at the server has ended.
    static let signedOut = BrowserPage(
        mark: .done, heading: "You are signed out",
        text: "Your session has ended, and the app was notified.",
        advice: "You can close this tab.")

    /// The page for the expected callback with an error: the user or the server refused the request.
    static let refused = BrowserPage(
        mark: .stopped, heading: "Access was denied",
        text: "The app received no access and was notified.",
        advice: "You can close this tab. To try again, start in the app.")

    /// The page for a callback that has the expected `state` but failed another check.
    static let unsafe = BrowserPage(
        mark: .warning, heading: "This response could not be trusted",
        text: "It did not come from the expected server, or it was changed on the way. The app rejected it.",
        advice: "Close this tab and start again in the app.")

    /// The page for a callback that does not belong to this sign-in.
    static let unrelated = BrowserPage(
        mark: .warning, heading: "This response was not expected",
        text: "It belongs to another sign-in, or to one that this app did not start. The app ignored it.",
        advice: "If you are signing in right now, continue in the tab where you started.")

    /// The page for a callback that arrives after another callback was accepted.
    static let ended = BrowserPage(
        mark: .stopped, heading: "This sign-in has already ended",
        text: "The app has already received a response.",
        advice: "You can close this tab.")

    /// The page after a timeout or a cancellation, for late callbacks and for connections that are still open.
    static let aborted = BrowserPage(
        mark: .stopped, heading: "This sign-in has ended",
        text: "The sign-in was cancelled or timed out. The app received nothing.",
        advice: "You can close this tab. To sign in, start again in the app.")

    /// The page for a second request to the local URL that leads to the server.
    static let started = BrowserPage(
        mark: .stopped, heading: "This link was already used",
        text: "It leads to the sign-in page once.",
        advice: "Continue in the tab that it opened, or go back to the app and open the URL that it shows.")

    /// The page for a request from a program of another user.
    static let otherUser = BrowserPage(
        mark: .warning, heading: "This request is not accepted",
        text: "It comes from a program of another user of this device.",
        advice: "To sign in, use a browser of the user who runs the app.")

    /// The page for a request to another path than that of the redirect URI.
    static let notFound = BrowserPage(
        mark: .stopped, heading: "Page not found",
        text: "An app is waiting on this port for the response to a sign-in, at another URL.",
        advice: "You can close this tab.")

    /// The page for a request that cannot be a callback, such as a POST request.
    static let rejected = BrowserPage(
        mark: .stopped, heading: "This request is not accepted",
        text: "An app is waiting on this port for the response to a sign-in and accepts nothing else.",
        advice: "You can close this tab.")

    var html: String {
        Self.template
            .replacing("{{style}}", with: Self.style)
            .replacing("{{mark}}", with: mark.rawValue)
            .replacing("{{heading}}", with: heading)
            .replacing("{{text}}", with: text)
            .replacing("{{advice}}", with: advice)
    }

    /// The header fields of every page: they forbid caching, scripts, framing and referrers.
    static let headers: [(String, String)] = [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", contentSecurityPolicy),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
    ]

    private static let template = String(decoding: PackageResources.page_html, as: UTF8.self)
    private static let style = String(decoding: PackageResources.page_css, as: UTF8.self)
    private static let contentSecurityPolicy: String = {
        let hash = Data(SHA256.hash(data: Array(style.utf8))).base64EncodedString()
        return
            "default-src 'none'; style-src 'sha256-\(hash)'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }()
}
