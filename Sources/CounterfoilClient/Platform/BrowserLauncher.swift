/// What opens an address in the person's browser.
///
/// RFC 8252 §6. It is a program of its own, chosen by the person; there is no interface here for a web view inside an
/// application, because an application could read the password from one (RFC 8252 §8.12).
public protocol BrowserLauncher: Sendable {
    /// Tries to open an address; failing is an outcome, because the address can still be shown and opened by hand.
    ///
    /// Returns when the browser was started or could not be. Cancelling stops waiting for it, and leaves it open.
    func open(_ url: BrowserURL) async -> BrowserLaunch
}

/// What came of an attempt to open the browser.
public enum BrowserLaunch: Sendable, Hashable {
    /// It was started.
    case launched
    /// It was not, for a reason that can be shown.
    case failed(String)
    /// Nobody wanted it opened; the address is shown only.
    case notAttempted
}

/// The launcher that opens nothing: the person opens the address that is shown, maybe on another screen.
public struct NoBrowser: BrowserLauncher {
    /// Makes a launcher that opens nothing.
    public init() {}

    /// Opens nothing.
    public func open(_ url: BrowserURL) async -> BrowserLaunch { .notAttempted }
}

/// An address that may be handed to a browser: https, or http on the device itself.
///
/// RFC 8252 appendix A.3: what goes to a process is a valid URL with every parameter encoded. It holds URI characters only
/// and begins with its scheme, so it can be neither an option nor a piece of shell.
public struct BrowserURL: Sendable, Hashable, CustomStringConvertible {
    /// The address as one argument.
    public let rawValue: String

    /// Parses an address.
    public init(_ text: String) throws(EndpointURL.Refusal) {
        rawValue = try EndpointURL(text).rawValue
    }

    /// The address as one argument.
    public var description: String { rawValue }
}
