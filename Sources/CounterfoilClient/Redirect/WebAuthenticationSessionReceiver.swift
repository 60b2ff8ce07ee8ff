#if canImport(AuthenticationServices) && (os(iOS) || os(macOS))
    public import AuthenticationServices
    public import CounterfoilProtocol
    import Foundation

    /// A receiver that uses the web authentication session of Apple's systems.
    ///
    /// `ASWebAuthenticationSession` shows the page in the user's browser, or in a sheet over the window of the
    /// app. It receives callbacks to a private-use URI scheme (RFC 8252 §7.1) or to a claimed https URL (RFC
    /// 8252 §7.2 and appendix B.1). A claimed https URL requires the entitlement for an associated domain
    /// (`webcredentials:HOST`). The session opens the page and receives the callback in one step, so only
    /// ``browser`` can open the page.
    public final class WebAuthenticationSessionReceiver: RedirectReceiver, WaitingReceiver {
        /// The redirect URI as registered at the server, with a private-use scheme or with https.
        public let redirectURI: RedirectURI
        private let matching: Matching
        let wait = CallbackWait()
        private let presentation: Presentation

        /// The pattern by which the system recognizes the callback URL.
        private enum Matching: Sendable {
            case scheme(String)
            case https(host: String, path: String)
        }

        /// Creates a receiver for a registered redirect URI.
        ///
        /// - Parameters:
        ///   - redirectURI: The redirect URI, with a private-use scheme or with https and no port.
        ///   - prefersEphemeralSession: If true, the page cannot use cookies and other data of the user's
        ///     browser. The session then stores nothing, and the user has to authenticate each time.
        ///   - anchor: The window over which the page is shown; nil leaves the choice to the system.
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
                    "the redirect URI \(redirectURI) has neither a private-use scheme nor https without a port")
            }
            self.redirectURI = redirectURI
            presentation = Presentation(isEphemeral: prefersEphemeralSession, anchor: anchor)
        }

        /// The launcher that opens the page in the web authentication session.
        public var browser: (any BrowserLauncher)? { Session(receiver: self) }

        /// Closes the page, if it is still open.
        public func close() async {
            wait.end(with: .cancelled)
            await presentation.end()
        }

        /// Checks the URL that the system returns.
        ///
        /// The system returns only one URL, so the wait ends even if the URL is not the expected callback.
        private func take(_ url: String) {
            guard let callback = try? CallbackURL(url).callback(at: redirectURI) else {
                return wait.end(with: .unsafe(.callback(.wrongRedirectURI)))
            }
            switch wait.decide(on: callback) {
            case .accepted: wait.deliver(callback)
            case .unrelated: wait.end(with: .unsafe(.callback(.wrongState)))
            case .ended: break
            }
        }

        private func fail(_ error: (any Error)?) {
            switch (error as? ASWebAuthenticationSessionError)?.code {
            case .canceledLogin?: wait.end(with: .cancelled)
            case .presentationContextInvalid?, .presentationContextNotProvided?:
                wait.end(with: .cannotListen("there is no window to show the page in"))
            default:
                wait.end(
                    with: .cannotListen(
                        "the system could not show the page, or has not associated the redirect URI with this app"))
            }
        }

        /// The launcher that opens the page in the web authentication session of the receiver.
        private struct Session: BrowserLauncher {
            let receiver: WebAuthenticationSessionReceiver

            func open(_ url: BrowserURL) async -> BrowserLaunch {
                guard let address = URL(string: url.rawValue) else { return .failed("the URL is invalid") }
                let isShown = await receiver.presentation.show(
                    address, callback: receiver.matching, ended: receiver.completion())
                guard isShown else {
                    receiver.wait.end(with: .cannotListen("the system did not show the page"))
                    return .failed("the system did not show the page")
                }
                return .launched
            }
        }

        /// Returns a completion handler that is not isolated to an actor, because the system calls it on any queue.
        private func completion() -> @Sendable (URL?, (any Error)?) -> Void {
            { address, error in
                if let address { self.take(address.absoluteString) } else { self.fail(error) }
            }
        }

        /// The web authentication session while it shows the page.
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
                // The session does not retain its presentation context provider, so `self.window` does.
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

        private final class Window: NSObject, ASWebAuthenticationPresentationContextProviding {
            private let anchor: ASPresentationAnchor

            init(_ anchor: ASPresentationAnchor) { self.anchor = anchor }

            func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor }
        }
    }
#endif
