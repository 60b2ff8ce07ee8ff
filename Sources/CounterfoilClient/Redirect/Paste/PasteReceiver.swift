public import CounterfoilProtocol
import Synchronization

/// Takes the answer from the person's hand, where the browser runs on another device, as over SSH.
///
/// The browser there cannot reach this device: it ends on an error page whose address is the answer, and the person pastes
/// that address here. It is judged as one that arrives by itself: what belongs to another sign-in is refused with the
/// reason, and asked for again. Everything that is pasted may be a secret; show and keep none of it.
public final class PasteReceiver: RedirectReceiver {
    /// Why what was pasted is not the answer.
    public enum Refusal: Sendable, Hashable, CustomStringConvertible {
        /// Nothing, or not an address.
        case notAnAddress(expected: String)
        /// An address that does not begin as the redirect URI does.
        case anotherAddress(expected: String)
        /// The answer to another sign-in, or one that was changed on its way.
        case anotherSignIn
        /// Longer than any answer.
        case tooLong

        /// What to tell the person; nothing that was pasted is in it.
        public var description: String {
            switch self {
            case .notAnAddress(let expected):
                "That is not a whole address. Copy everything in the browser's address bar; it begins with \(expected)"
            case .anotherAddress(let expected):
                "That is the address of another page. Allow or deny in the browser first; the address of the page after that,"
                    + " which the browser may call an error, begins with \(expected)"
            case .anotherSignIn:
                "That answer belongs to another sign-in. Open the address that is shown above, and paste what that one leads to."
            case .tooLong: "That is too long to be an answer."
            }
        }
    }

    /// The redirect URI; nobody has to listen there.
    public let redirectURI: RedirectURI
    private let nextLine: @Sendable () async -> String?
    private let refused: @Sendable (Refusal) -> Void
    private let wait = CallbackWait()
    private let reader = Mutex<Task<Void, Never>?>(nil)

    /// Takes lines from a source, such as ``PastedLines``, until it answers nil; tells why one is not the answer.
    public init(
        at redirectURI: RedirectURI,
        lines: @escaping @Sendable () async -> String?,
        onRefusal: @escaping @Sendable (Refusal) -> Void
    ) {
        self.redirectURI = redirectURI
        nextLine = lines
        refused = onRefusal
    }

    /// The same for a loopback address as it is registered; one without a port gets one on which hardly anybody listens.
    public convenience init(
        at address: LoopbackAddress = .standard,
        lines: @escaping @Sendable () async -> String?,
        onRefusal: @escaping @Sendable (Refusal) -> Void
    ) throws(SignInError) {
        let redirectURI: RedirectURI
        do {
            // The range of RFC 6335 §6 for ports that nobody registers.
            redirectURI = try address.redirectURI(port: address.ports.first ?? Int.random(in: 49152...65535))
        } catch { throw .unusable("the redirect URI cannot be used: \(error)") }
        self.init(at: redirectURI, lines: lines, onRefusal: onRefusal)
    }

    /// Says what to wait for.
    public func expect(_ expectation: CallbackExpectation) {
        wait.expect(expectation)
    }

    /// Reads until the answer is there, the lines end, or the time is over.
    public func callback(within timeout: Duration = .seconds(300)) async throws(SignInError) -> AuthorizationCallback {
        let task = Task { [nextLine, wait, refused, redirectURI] in
            while !Task.isCancelled, let line = await nextLine() {
                guard let refusal = Self.take(line, at: redirectURI, for: wait) else { return }
                refused(refusal)
            }
            wait.end(with: .cannotListen("the input ended before an address was pasted"))
        }
        reader.withLock { $0 = task }
        defer { task.cancel() }
        return try await wait.callback(within: timeout)
    }

    /// Stops reading.
    public func close() async {
        wait.end(with: .cancelled)
        reader.withLock { $0?.cancel() }
    }

    /// Ends the wait with a line when that is the answer; otherwise why it is not.
    private static func take(_ line: String, at redirectURI: RedirectURI, for wait: CallbackWait) -> Refusal? {
        let expected = String(redirectURI.rawValue.prefix { $0 != "?" })
        let text = address(in: line)
        let callback: AuthorizationCallback
        do {
            let returned = try ReturnedAddress(text)
            guard returned.scheme != nil else { return .notAnAddress(expected: expected) }
            callback = try returned.callback(at: redirectURI)
        } catch {
            switch error {
            case .tooLong: return .tooLong
            case .anotherAddress: return .anotherAddress(expected: expected)
            case .unreadable: return .notAnAddress(expected: expected)
            }
        }
        switch wait.decide(on: callback) {
        case .stranger: return .anotherSignIn
        case .over: return nil
        case .accepted:
            wait.deliver(callback)
            return nil
        }
    }

    /// What a person pasted, without what a terminal or a habit puts around it.
    private static func address(in line: String) -> String {
        var text = line.strippingControlCharacters
        for mark in ["[200~", "[201~"] { text = text.replacing(mark, with: "") }
        let around: Set<Character> = [" ", "\t", "\"", "'", "<", ">"]
        return String(text.drop(while: around.contains).reversed().drop(while: around.contains).reversed())
    }
}
