/// A launcher of the user's browser.
///
/// RFC 8252 §6. The browser is a separate program that the user has chosen. There is no interface for a web
/// view inside an app, because the app could read the password from it (RFC 8252 §8.12).
public protocol BrowserLauncher: Sendable {
    /// Tries to open a URL.
    ///
    /// Failure is an outcome and not an error, because the URL can still be shown and opened by hand. The
    /// function returns as soon as the browser has started or has failed to start. Cancelling the task ends the
    /// wait and leaves the browser open.
    func open(_ url: BrowserURL) async -> BrowserLaunch
}

/// The outcome of an attempt to open the browser.
public enum BrowserLaunch: Sendable, Hashable {
    /// The browser has started.
    case launched
    /// The browser did not start.
    ///
    /// The text is a reason that can be shown.
    case failed(String)
    /// The caller asked for no browser; the URL is only shown.
    case notAttempted
}

/// A launcher that opens nothing: the user opens the URL that is shown, perhaps on another device.
public struct NoBrowser: BrowserLauncher {
    /// Creates a launcher that opens nothing.
    public init() {}

    /// Opens nothing.
    public func open(_ url: BrowserURL) async -> BrowserLaunch { .notAttempted }
}

/// A URL that may be passed to a browser: https, or http on a loopback host.
///
/// RFC 8252 appendix A.3: only a valid URL with encoded parameters is passed to another program. It consists of
/// URI characters and starts with its scheme, so it can be neither an option nor a shell command.
public struct BrowserURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL as one argument.
    public let rawValue: String

    /// Parses a URL.
    public init(_ text: String) throws(EndpointURL.Refusal) {
        rawValue = try EndpointURL(text).rawValue
    }

    /// The URL as one argument.
    public var description: String { rawValue }
}
