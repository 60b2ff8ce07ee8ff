import CounterfoilProtocol

/// A URL on a loopback port, `http://127.0.0.1:PORT/start/RANDOM`, that redirects the browser to a server, once.
///
/// Every user of a device can read the arguments of a program that starts (`ps`). The URL of an authorization request
/// contains the `state`, the `nonce` and perhaps an email address. A launcher that passes a URL as an argument passes
/// this URL instead: the receiver of the sign-in answers it with a redirect to ``destination``, only once, and on Linux
/// only to programs of the same user.
public struct LocalStartURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL on loopback.
    public let rawValue: String
    /// The URL to which the browser is redirected; show this one to the user, because it can be opened several times.
    public let destination: BrowserURL

    /// Parses a URL; throws unless it is http on a loopback host.
    public init(_ text: String, leadingTo destination: BrowserURL) throws(EndpointURL.Refusal) {
        let endpoint = try EndpointURL(text)
        guard endpoint.isLoopback, endpoint.uri.scheme.lowercased() == "http" else { throw .insecure }
        rawValue = endpoint.rawValue
        self.destination = destination
    }

    /// The URL on loopback.
    public var description: String { rawValue }
}

extension BrowserLauncher {
    /// Opens a URL, by way of the local URL of a receiver if it has one.
    func open(_ url: BrowserURL, startingAt receiver: any RedirectReceiver) async -> BrowserLaunch {
        guard let start = receiver.startURL(for: url) else { return await open(url) }
        return await open(start)
    }
}
