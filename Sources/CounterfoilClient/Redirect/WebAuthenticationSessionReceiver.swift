#if canImport(AuthenticationServices) && (os(iOS) || os(macOS))
    public import AuthenticationServices
    public import CounterfoilProtocol
    import Foundation

    /// Takes the answer through the browser session that Apple's systems have for signing in.
    ///
    /// `ASWebAuthenticationSession`: it shows the page in the person's own browser, or in a sheet of it over the application,
    /// and brings the answer back, either to a scheme of the application's own (RFC 8252 §7.1) or to a claimed https address
    /// (RFC 8252 §7.2 and appendix B.1), for which the application needs the entitlement of an associated domain
    /// (`webcredentials:HOST`). Opening the page and taking the answer are one step here, so this is its own ``browser``.
    public final class WebAuthenticationSessionReceiver: RedirectReceiver {
        /// The redirect URI, as it is registered.
        public let redirectURI: RedirectURI
        private let matching: Matching
        private let wait = CallbackWait()
        private let presentation: Presentation

        /// What the system is to look for in the addresses that the browser is sent to.
        private enum Matching: Sendable {
            case scheme(String)
            case https(host: String, path: String)
        }

        /// Makes a receiver for a redirect URI as it is registered.
        ///
        /// - Parameters:
        ///   - prefersEphemeralSession: Whether the page gets nothing of the person's browser, so that nobody is signed in
        ///     there already and nothing is kept; the person is asked for the password each time.
        ///   - anchor: The window over which the page is shown; nil lets the system choose.
        public init(
            at redirectURI: RedirectURI,
            prefersEphemeralSession: Bool = false,
            anchor: (@MainActor @Sendable () -> ASPresentationAnchor)? = nil
        ) throws(SignInError) {
            switch redirectURI.kind {
            case .privateUseScheme(let scheme): matching = .scheme(scheme)
            case .https(let host) where redirectURI.uri.port == nil:
                let path = redirectURI.uri.path
                matching = .https(host: host, path: path.isEmpty ? "/" : path)
            case .https, .loopback:
                throw .unusable(
                    "the redirect URI \(redirectURI) is neither one with a scheme of its own nor https without a port")
            }
            self.redirectURI = redirectURI
            presentation = Presentation(isEphemeral: prefersEphemeralSession, anchor: anchor)
        }

        /// The session itself: it opens the page.
        public var browser: (any BrowserLauncher)? { Session(receiver: self) }

        /// Says what to wait for.
        public func expect(_ expectation: CallbackExpectation) {
            wait.expect(expectation)
        }

        /// Waits for the answer; a person who closes the page ends the wait.
        public func callback(
            within timeout: Duration = .seconds(300)
        ) async throws(SignInError) -> AuthorizationCallback {
            try await wait.callback(within: timeout, orClose: close)
        }

        /// Closes the page, if it is still open.
        public func close() async {
            wait.end(with: .cancelled)
            await presentation.end()
        }

        /// The system hands over one address and closes the page: an answer that is not the expected one ends the wait too.
        private func take(_ address: String) {
            guard let callback = try? ReturnedAddress(address).callback(at: redirectURI) else {
                return wait.end(with: .unsafe(.callback(.wrongRedirectURI)))
            }
            switch wait.decide(on: callback) {
            case .accepted: wait.deliver(callback)
            case .stranger: wait.end(with: .unsafe(.callback(.wrongState)))
            case .over: break
            }
        }

        private func fail(_ error: (any Error)?) {
            switch (error as? ASWebAuthenticationSessionError)?.code {
            case .canceledLogin?: wait.end(with: .cancelled)
            case .presentationContextInvalid?, .presentationContextNotProvided?:
                wait.end(with: .cannotListen("there is no window over which the page could be shown"))
            default:
                wait.end(with: .cannotListen("the system could not show the page, or has not given it this address"))
            }
        }

        /// What opens the page.
        private struct Session: BrowserLauncher {
            let receiver: WebAuthenticationSessionReceiver

            func open(_ url: BrowserURL) async -> BrowserLaunch {
                guard let address = URL(string: url.rawValue) else { return .failed("the address is not a URL") }
                let isShown = await receiver.presentation.show(
                    address, callback: receiver.matching, ended: receiver.completion())
                guard isShown else {
                    receiver.wait.end(with: .cannotListen("the system did not show the page"))
                    return .failed("the system did not show the page")
                }
                return .launched
            }
        }

        /// What the system calls at the end, on whatever queue it likes: nothing here belongs to an actor.
        private func completion() -> @Sendable (URL?, (any Error)?) -> Void {
            { address, error in
                if let address { self.take(address.absoluteString) } else { self.fail(error) }
            }
        }

        /// The page while it is shown.
        @MainActor
        private final class Presentation {
            private let isEphemeral: Bool
            private let anchor: (@MainActor @Sendable () -> ASPresentationAnchor)?
            private var session: ASWebAuthenticationSession?
            private var window: Window?
            private var isOver = false

            nonisolated init(isEphemeral: Bool, anchor: (@MainActor @Sendable () -> ASPresentationAnchor)?) {
                self.isEphemeral = isEphemeral
                self.anchor = anchor
            }

            func show(
                _ url: URL, callback: Matching, ended: @escaping @Sendable (URL?, (any Error)?) -> Void
            ) -> Bool {
                guard !isOver else { return false }
                let wanted: ASWebAuthenticationSession.Callback =
                    switch callback {
                    case .scheme(let scheme): .customScheme(scheme)
                    case .https(let host, let path): .https(host: host, path: path)
                    }
                let session = ASWebAuthenticationSession(url: url, callback: wanted, completionHandler: ended)
                // The session does not keep what it asks for its window.
                let window = Window(anchor?() ?? ASPresentationAnchor())
                session.presentationContextProvider = window
                session.prefersEphemeralWebBrowserSession = isEphemeral
                self.session = session
                self.window = window
                return session.start()
            }

            func end() {
                isOver = true
                session?.cancel()
                session = nil
                window = nil
            }
        }

        /// The window over which the page is shown.
        private final class Window: NSObject, ASWebAuthenticationPresentationContextProviding {
            private let anchor: ASPresentationAnchor

            init(_ anchor: ASPresentationAnchor) { self.anchor = anchor }

            func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }
        }
    }
#endif
