import Crypto
import Foundation

/// The page that the browser shows after it sent a callback, or another request, to the device.
///
/// The template is `Pages/page.html`, its style `Pages/page.css`. The page never contains anything from the request.
struct BrowserPage: Sendable, Hashable {
    /// The icon at the top of the page.
    enum Mark: String {
        case done
        case stopped
        case warning
    }

    let mark: Mark
    let heading: String
    let text: String
    let advice: String

    /// The user allowed the request, and the client has the callback.
    static let received = BrowserPage(
        mark: .done, heading: "You may close this window",
        text: "The answer has reached the application that asked for it.",
        advice: "Go back to it to continue.")

    /// The session at the server has ended.
    static let signedOut = BrowserPage(
        mark: .done, heading: "You are signed out",
        text: "The session has ended, and the application knows.",
        advice: "You may close this window.")

    /// The user or the server refused.
    static let refused = BrowserPage(
        mark: .stopped, heading: "Access was not given",
        text: "The sign-in ended without access, and the application knows.",
        advice: "You may close this window. To try again, start in the application.")

    /// The callback belongs to the attempt but failed a check.
    static let unsafe = BrowserPage(
        mark: .warning, heading: "This answer could not be trusted",
        text: "It did not come from the server that was asked, or was changed on its way. Nothing was passed on.",
        advice: "Close this window, and start again in the application.")

    /// A callback that does not belong to this attempt.
    static let stranger = BrowserPage(
        mark: .warning, heading: "This answer was not expected",
        text: "The answer belongs to another attempt, or to one that this application did not begin. It was ignored.",
        advice: "If you are signing in just now, go on in the window where you began.")

    /// A second callback.
    static let over = BrowserPage(
        mark: .stopped, heading: "This sign-in is over",
        text: "The application has its answer already.",
        advice: "You may close this window.")

    /// A callback, or a connection that may be about to send one, after the wait ended without a callback.
    static let givenUp = BrowserPage(
        mark: .stopped, heading: "This sign-in was ended",
        text: "The application no longer waits: the sign-in was cancelled, or its time is over. Nothing was passed on.",
        advice: "You may close this window. To sign in, start again in the application.")

    /// A path other than that of the callback.
    static let notHere = BrowserPage(
        mark: .stopped, heading: "There is nothing here",
        text: "An application waits on this port for the end of a sign-in, at another address.",
        advice: "You may close this window.")

    /// A request that no browser sends in a sign-in.
    static let turnedAway = BrowserPage(
        mark: .stopped, heading: "This request is not accepted",
        text: "An application waits on this port for the end of a sign-in, and for nothing else.",
        advice: "You may close this window.")

    /// The complete page.
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
