/// A launcher of the user's browser.
///
/// RFC 8252 §6. The browser is a separate program that the user has chosen. This package has no launcher for a
/// web view inside an app, because the app could read the password from the web view (RFC 8252 §8.12).
public protocol BrowserLauncher: Sendable {
    /// Tries to open a URL.
    ///
    /// Failure is an outcome and not an error, because the client can still show the URL and the user can open it
    /// by hand. The function may wait until the program that it started ends. Some browsers end only when the user
    /// closes them. Cancelling the task ends the wait and leaves the browser open.
    func open(_ url: BrowserURL) async -> BrowserLaunch

    /// Tries to open a URL that a receiver on this device redirects once.
    ///
    /// By default, it opens ``LocalStartURL/destination``. A launcher that passes the URL to another program as an
    /// argument opens the local URL instead, because other users can read the arguments of a program.
    func open(_ start: LocalStartURL) async -> BrowserLaunch

    /// Whether the launcher knows in advance that it cannot show the user a browser.
    ///
    /// The default implementation returns false.
    var isOutOfReach: Bool { get }
}

extension BrowserLauncher {
    /// Opens ``LocalStartURL/destination``.
    public func open(_ start: LocalStartURL) async -> BrowserLaunch { await open(start.destination) }

    /// Returns false: whether the browser starts is known only after ``open(_:)-(BrowserURL)``.
    public var isOutOfReach: Bool { false }
}

/// The outcome of an attempt to open the browser.
public enum BrowserLaunch: Sendable, Hashable {
    /// A command that opens the browser started and reported no failure; the user may still not see the page.
    case launched
    /// The browser did not start.
    ///
    /// The value is the reason, safe to show to users.
    case failed(String)
    /// The launcher opens no browser by design, like ``NoBrowser``; the user opens the URL that the client shows.
    case notAttempted
}

/// A launcher that opens nothing: the user opens the URL that the client shows, perhaps on another device.
public struct NoBrowser: BrowserLauncher {
    /// Creates a launcher that opens nothing.
    public init() {}

    /// Returns true, because the launcher opens no browser.
    public var isOutOfReach: Bool { true }

    /// Returns ``BrowserLaunch/notAttempted``, so the client must show the URL to the user.
    public func open(_ url: BrowserURL) async -> BrowserLaunch { .notAttempted }
}

/// A URL that may be passed to a browser: https, or http on a loopback host.
///
/// RFC 8252 appendix A.3: only a valid URL with encoded parameters is passed to another program. The URL consists
/// of URI characters and starts with its scheme, so another program cannot mistake it for an option or for the
/// name of a command.
public struct BrowserURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL exactly as it was parsed, without normalization.
    public let rawValue: String

    /// Parses a URL; throws unless it is https, or http on a loopback host, without user information and fragment.
    public init(_ text: String) throws(EndpointURL.Refusal) {
        rawValue = try EndpointURL(text).rawValue
    }

    /// The URL exactly as it was parsed, without normalization.
    public var description: String { rawValue }
}
