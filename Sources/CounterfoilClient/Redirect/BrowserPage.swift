import Crypto
import Foundation

/// What the browser shows when it has brought the answer, or something else, to the device.
///
/// The template is `Pages/page.html`, its look `Pages/page.css`. Nothing that came with a request is ever shown.
struct BrowserPage: Sendable, Hashable {
    /// Which of the three marks stands at the top.
    enum Mark: String {
        case done
        case stopped
        case warning
    }

    let mark: Mark
    let heading: String
    let text: String
    let advice: String

    /// The person allowed it, and the application has the answer.
    static let received = BrowserPage(
        mark: .done, heading: "You may close this window",
        text: "The answer has reached the application that asked for it.",
        advice: "Go back to it to continue.")

    /// The session at the server has ended.
    static let signedOut = BrowserPage(
        mark: .done, heading: "You are signed out",
        text: "The session has ended, and the application knows.",
        advice: "You may close this window.")

    /// The person or the server refused.
    static let refused = BrowserPage(
        mark: .stopped, heading: "Access was not given",
        text: "The sign-in ended without access, and the application knows.",
        advice: "You may close this window. To try again, start in the application.")

    /// The answer belongs to the attempt and cannot be trusted.
    static let unsafe = BrowserPage(
        mark: .warning, heading: "This answer could not be trusted",
        text: "It did not come from the server that was asked, or was changed on its way. Nothing was passed on.",
        advice: "Close this window, and start again in the application.")

    /// An answer to something that this application did not begin.
    static let stranger = BrowserPage(
        mark: .warning, heading: "This answer was not expected",
        text: "The answer belongs to another attempt, or to one that this application did not begin. It was ignored.",
        advice: "If you are signing in just now, go on in the window where you began.")

    /// A second answer.
    static let over = BrowserPage(
        mark: .stopped, heading: "This sign-in is over",
        text: "The application has its answer already.",
        advice: "You may close this window.")

    /// An answer, or a browser that is about to bring one, when nobody waits any more.
    static let givenUp = BrowserPage(
        mark: .stopped, heading: "This sign-in was ended",
        text: "The application no longer waits: the sign-in was cancelled, or its time is over. Nothing was passed on.",
        advice: "You may close this window. To sign in, start again in the application.")

    /// Another path than the callback's.
    static let notHere = BrowserPage(
        mark: .stopped, heading: "There is nothing here",
        text: "An application waits on this port for the end of a sign-in, at another address.",
        advice: "You may close this window.")

    /// A request that no browser sends in a sign-in.
    static let turnedAway = BrowserPage(
        mark: .stopped, heading: "This request is not accepted",
        text: "An application waits on this port for the end of a sign-in, and for nothing else.",
        advice: "You may close this window.")

    /// The page, whole.
    var html: String {
        Self.template
            .replacing("{{style}}", with: Self.style)
            .replacing("{{mark}}", with: mark.rawValue)
            .replacing("{{heading}}", with: heading)
            .replacing("{{text}}", with: text)
            .replacing("{{advice}}", with: advice)
    }

    /// The header fields of every page: nothing is kept, run, framed or passed on.
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
