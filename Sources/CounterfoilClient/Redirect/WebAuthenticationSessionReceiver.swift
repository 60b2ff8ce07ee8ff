#if os(iOS) || os(macOS)
    public import AuthenticationServices
    public import CounterfoilProtocol
    import Foundation

    #if os(iOS)
        import UIKit
    #else
        import AppKit
    #endif

    /// A receiver that uses the web authentication session of Apple's systems.
    ///
    /// `ASWebAuthenticationSession` shows the page in the user's browser, or in a sheet over the window of the
    /// app. It receives callbacks to a private-use URI scheme (RFC 8252 §7.1) or to a claimed https URL (RFC
    /// 8252 §7.2 and appendix B.1). A claimed https URL requires the entitlement for an associated domain
    /// (`webcredentials:HOST`), and iOS 17.4 or macOS 14.4. If the entitlement or the association file is missing, the
    /// wait ends with ``SignInError/cannotListen(_:)``, and the sign-in uses the next redirect option. The session
    /// opens the page and receives the callback in one step, so only ``browser`` can open the page.
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
        ///   - anchor: The window over which the page is shown; nil means the key window of the active scene on iOS,
        ///     and that of the app on macOS.
        public init(
            at redirectURI: RedirectURI,
            prefersEphemeralSession: Bool = false,
            anchor: (@MainActor @Sendable () -> ASPresentationAnchor)? = nil
        ) throws(SignInError) {
            switch redirectURI.kind {
            case .privateUseScheme(let scheme): matching = .scheme(scheme)
            case .https(let host) where redirectURI.uri.port == nil:
                guard #available(iOS 17.4, macOS 14.4, *) else {
                    throw .cannotListen("claimed https URLs require iOS 17.4 or macOS 14.4")
                }
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
            guard let error = error as? ASWebAuthenticationSessionError else {
                return wait.end(with: .cannotListen("the system did not show the page"))
            }
            wait.end(
                with: WebAuthenticationFailure.error(
                    code: error.code.rawValue,
                    reason: error.errorUserInfo[NSLocalizedFailureReasonErrorKey] as? String))
        }

        /// The launcher that opens the page in the web authentication session of the receiver.
        private struct Session: BrowserLauncher {
            let receiver: WebAuthenticationSessionReceiver

            func open(_ url: BrowserURL) async -> BrowserLaunch {
                guard let address = URL(string: url.rawValue) else { return .failed("the URL is invalid") }
                do throws(SignInError) {
                    try await receiver.presentation.show(
                        address, callback: receiver.matching, ended: receiver.completion())
                } catch {
                    receiver.wait.end(with: error)
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
            ) throws(SignInError) {
                guard !isOver else { throw .cancelled }
                guard let anchor = anchor?() ?? Self.keyWindow else { throw WebAuthenticationFailure.noWindow }
                let session = try Self.session(url, callback, ended)
                // The session does not retain its presentation context provider, so `self.window` does.
                let window = Window(anchor)
                session.presentationContextProvider = window
                session.prefersEphemeralWebBrowserSession = isEphemeral
                self.session = session
                self.window = window
                guard session.start() else { throw .cannotListen("the system did not show the page") }
            }

            private static func session(
                _ url: URL, _ callback: Matching, _ ended: @escaping @Sendable (URL?, (any Error)?) -> Void
            ) throws(SignInError) -> ASWebAuthenticationSession {
                switch callback {
                case .scheme(let scheme):
                    return ASWebAuthenticationSession(url: url, callbackURLScheme: scheme, completionHandler: ended)
                case .https(let host, let path):
                    guard #available(iOS 17.4, macOS 14.4, *) else {
                        throw .cannotListen("claimed https URLs require iOS 17.4 or macOS 14.4")
                    }
                    return ASWebAuthenticationSession(
                        url: url, callback: .https(host: host, path: path), completionHandler: ended)
                }
            }

            #if os(iOS)
                /// The key window of the scene that the user sees, or a window in a visible scene without one.
                private static var keyWindow: ASPresentationAnchor? {
                    let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
                    let scene =
                        scenes.first { $0.activationState == .foregroundActive }
                        ?? scenes.first { $0.activationState == .foregroundInactive }
                    return scene.map { $0.keyWindow ?? $0.windows.first ?? UIWindow(windowScene: $0) }
                }
            #else
                /// The key window of the app, or a new one; macOS shows the page in a window of the browser.
                private static var keyWindow: ASPresentationAnchor? {
                    let app = NSApplication.shared
                    return app.keyWindow ?? app.mainWindow ?? app.windows.first { $0.isVisible } ?? NSWindow()
                }
            #endif

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

    extension RedirectOption {
        /// Uses the web authentication session with a window of the app, or without the data of the user's browser.
        ///
        /// ``customScheme(_:)`` and ``claimedHTTPS(_:)`` use the session with its defaults. The parameters are those of
        /// ``WebAuthenticationSessionReceiver/init(at:prefersEphemeralSession:anchor:)``.
        public static func webAuthentication(
            _ redirectURI: String,
            prefersEphemeralSession: Bool = false,
            anchor: (@MainActor @Sendable () -> ASPresentationAnchor)? = nil
        ) throws(Refusal) -> RedirectOption {
            let uri: RedirectURI
            do { uri = try RedirectURI(redirectURI) } catch { throw .notARedirectURI(error) }
            switch uri.kind {
            case .privateUseScheme: _ = try customScheme(redirectURI)
            case .https: break
            case .loopback: throw .notHTTPS
            }
            return .receiver { () throws(SignInError) in
                try WebAuthenticationSessionReceiver(
                    at: uri, prefersEphemeralSession: prefersEphemeralSession, anchor: anchor)
            }
        }
    }
#endif
