@_spi(Counterfoil) public import CounterfoilProtocol

/// A receiver for a callback URL that the user copies from a browser on another device, for example during SSH.
///
/// The browser on the other device cannot reach this device. It shows an error page whose URL is the
/// callback, and the user pastes this URL. The receiver checks a pasted callback like any other callback. It
/// rejects other text with a ``Refusal`` and waits for the next line. Pasted text may be secret: do not show
/// or store it.
public final class PasteReceiver: RedirectReceiver, WaitingReceiver {
    /// The reason why pasted text is not the expected callback.
    public enum Refusal: Sendable, Hashable, CustomStringConvertible {
        /// The line is empty, is not a URL, or has malformed parameters; a callback URL begins with `expected`.
        case notAURL(expected: String)
        /// The URL does not begin with `expected`, which is the redirect URI without its query.
        case otherURL(expected: String)
        /// The callback belongs to another sign-in, or its `state` was changed.
        case anotherSignIn
        /// The line is longer than 32 KiB, which is too long for a callback.
        case tooLong

        /// A message for the user; it contains no pasted text.
        public var description: String {
            switch self {
            case .notAURL(let expected):
                "That is not a complete URL. Copy everything in the browser's address bar; it starts with \(expected)"
            case .otherURL(let expected):
                "That is the URL of another page. Allow or deny in the browser first. Then copy the URL of the next page, even if"
                    + " the browser shows an error there. It starts with \(expected)"
            case .anotherSignIn:
                "That response belongs to another sign-in. Open the URL above, and paste the URL on which the browser then ends."
            case .tooLong: "That is too long to be a response."
            }
        }
    }

    /// The redirect URI; no program has to listen there.
    public let redirectURI: RedirectURI
    private let nextLine: @Sendable () async -> String?
    private let refused: @Sendable (Refusal) -> Void
    let wait = CallbackWait()
    private let reader = Mutex<Task<Void, Never>?>(nil)

    /// Creates a receiver that reads lines and passes the reason for each rejected line to `onRefusal`.
    ///
    /// `lines` returns the next line, or nil at the end of the input. ``PastedLines`` reads from a terminal.
    public init(
        at redirectURI: RedirectURI,
        lines: @escaping @Sendable () async -> String?,
        onRefusal: @escaping @Sendable (Refusal) -> Void
    ) {
        self.redirectURI = redirectURI
        nextLine = lines
        refused = onRefusal
    }

    /// Creates a receiver for a loopback redirect URI.
    ///
    /// If the URI lists no port, the receiver selects a random port that is unlikely to be in use.
    public convenience init(
        at uri: LoopbackRedirectURI = .standard,
        lines: @escaping @Sendable () async -> String?,
        onRefusal: @escaping @Sendable (Refusal) -> Void
    ) throws(SignInError) {
        let redirectURI: RedirectURI
        do {
            // RFC 6335 §6: the range of dynamic ports, which are never registered.
            redirectURI = try uri.redirectURI(port: uri.ports.first ?? Int.random(in: 49152...65535))
        } catch { throw .unusable("the redirect URI cannot be used: \(error)") }
        self.init(at: redirectURI, lines: lines, onRefusal: onRefusal)
    }

    /// Reads lines until the callback arrives, the lines end, or the time limit passes.
    public func callback(within timeout: Duration) async throws(SignInError) -> AuthorizationCallback {
        let task = Task { [nextLine, wait, refused, redirectURI] in
            while !Task.isCancelled, let line = await nextLine() {
                guard let refusal = Self.take(line, at: redirectURI, for: wait) else { return }
                refused(refusal)
            }
            wait.end(with: .cannotListen("the input ended before a URL was pasted"))
        }
        reader.withLock { $0 = task }
        defer { task.cancel() }
        return try await wait.callback(within: timeout)
    }

    /// Stops reading lines; a pending wait ends with ``SignInError/cancelled``.
    public func close() async {
        wait.end(with: .cancelled)
        reader.withLock { $0?.cancel() }
    }

    /// Ends the wait if a line is the expected callback; returns the reason if it is not.
    private static func take(_ line: String, at redirectURI: RedirectURI, for wait: CallbackWait) -> Refusal? {
        let expected = String(redirectURI.rawValue.prefix { $0 != "?" })
        let text = url(in: line)
        let callback: AuthorizationCallback
        do {
            let returned = try CallbackURL(text)
            guard returned.scheme != nil else { return .notAURL(expected: expected) }
            callback = try returned.callback(at: redirectURI)
        } catch {
            switch error {
            case .tooLong: return .tooLong
            case .otherURL: return .otherURL(expected: expected)
            case .unreadable: return .notAURL(expected: expected)
            }
        }
        switch wait.decide(on: callback) {
        case .unrelated: return .anotherSignIn
        case .ended: return nil
        case .accepted:
            wait.deliver(callback)
            return nil
        }
    }

    /// Removes bracketed paste marks, quotation marks, angle brackets and spaces around a pasted URL.
    private static func url(in line: String) -> String {
        var text = line.strippingControlCharacters
        for mark in ["[200~", "[201~"] { text = text.replacing(mark, with: "") }
        let around: Set<Character> = [" ", "\t", "\"", "'", "<", ">"]
        return String(text.drop(while: around.contains).reversed().drop(while: around.contains).reversed())
    }
}
