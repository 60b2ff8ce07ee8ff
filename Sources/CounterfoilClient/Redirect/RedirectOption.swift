public import CounterfoilProtocol

#if os(macOS)
    import CounterfoilPlatform

#endif

/// The way in which the callback reaches the client: one of the three ways of RFC 8252 §7, or a custom receiver.
///
/// ```swift
/// signIn.redirect = .loopback
/// signIn.redirect = try .claimedHTTPS("https://lightbox.example/callback")
///     .otherwise(.customScheme("com.example.lightbox:/callback"))
/// ```
///
/// Every redirect URI of the option must be registered at the server.
public struct RedirectOption: Sendable, CustomStringConvertible {
    /// The reason why a redirect URI does not fit the selected option, such as ``customScheme(_:)``.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text is not a valid redirect URI.
        case notARedirectURI(RedirectURI.Refusal)
        /// The text is not a loopback redirect URI.
        case notLoopback(LoopbackRedirectURI.Refusal)
        /// The text is not a redirect URI with a usable private-use URI scheme.
        case notACustomScheme(CustomSchemeRedirectURI.Refusal)
        /// The redirect URI is not an https URL.
        case notHTTPS

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .notARedirectURI(let refusal): "the redirect URI cannot be used: \(refusal)"
            case .notLoopback(let refusal): "\(refusal)"
            case .notACustomScheme(let refusal): "\(refusal)"
            case .notHTTPS: "the redirect URI must be https, such as https://app.example.com/callback"
            }
        }
    }

    /// A function that starts to listen and returns the receiver; each sign-in calls it once.
    public typealias Listen = @Sendable () async throws(SignInError) -> any RedirectReceiver

    private enum Alternative: Sendable {
        case loopback(LoopbackRedirectURI)
        case customScheme(CustomSchemeRedirectURI)
        case claimedHTTPS(RedirectURI)
        case receiver(Listen)
    }

    private var alternatives: [Alternative]

    /// Uses `http://127.0.0.1/callback` on any free port, or `http://[::1]/callback` if 127.0.0.1 is unavailable.
    ///
    /// RFC 8252 §7.3: the server accepts any port of a registered loopback redirect URI. On iOS, an app cannot use
    /// loopback redirect URIs.
    public static let loopback = RedirectOption(alternatives: [.loopback(.standard), .loopback(.standardIPv6)])

    /// Uses a loopback redirect URI, with one of its ports or any free port if it lists none (RFC 8252 §7.3).
    public static func loopback(_ uri: LoopbackRedirectURI) -> RedirectOption {
        RedirectOption(alternatives: [.loopback(uri)])
    }

    /// Uses a registered loopback redirect URI, with any free port if the URI contains none.
    public static func loopback(_ redirectURI: String) throws(Refusal) -> RedirectOption {
        do { return .loopback(try LoopbackRedirectURI(redirectURI)) } catch { throw .notLoopback(error) }
    }

    /// Uses a private-use URI scheme, such as `com.example.lightbox:/callback` (RFC 8252 §7.1).
    ///
    /// The receiver is `WebAuthenticationSessionReceiver` on Apple platforms and ``CustomSchemeReceiver`` on Linux.
    public static func customScheme(_ redirectURI: String) throws(Refusal) -> RedirectOption {
        do { return RedirectOption(alternatives: [.customScheme(try CustomSchemeRedirectURI(redirectURI))]) } catch {
            throw .notACustomScheme(error)
        }
    }

    /// Uses a claimed https URL, which the system passes to this client only (RFC 8252 §7.2).
    ///
    /// Prefer a claimed https URL where it is supported, which is on Apple platforms. The receiver is
    /// `WebAuthenticationSessionReceiver`. For other systems, add an alternative with ``otherwise(_:)``.
    public static func claimedHTTPS(_ redirectURI: String) throws(Refusal) -> RedirectOption {
        let uri: RedirectURI
        do { uri = try RedirectURI(redirectURI) } catch { throw .notARedirectURI(error) }
        guard case .https = uri.kind else { throw .notHTTPS }
        return RedirectOption(alternatives: [.claimedHTTPS(uri)])
    }

    /// Uses a custom receiver; each sign-in calls `listen` once to create its receiver.
    public static func receiver(_ listen: @escaping Listen) -> RedirectOption {
        RedirectOption(alternatives: [.receiver(listen)])
    }

    /// Selects the option for the kind of a redirect URI: loopback, private-use URI scheme or claimed https URL.
    public static func registered(_ redirectURI: String) throws(Refusal) -> RedirectOption {
        if LoopbackRedirectURI.bracketed(redirectURI) != nil { return try .loopback(redirectURI) }
        let uri: RedirectURI
        do { uri = try RedirectURI(redirectURI) } catch { throw .notARedirectURI(error) }
        switch uri.kind {
        case .loopback: return try .loopback(redirectURI)
        case .privateUseScheme: return try .customScheme(redirectURI)
        case .https: return try .claimedHTTPS(redirectURI)
        }
    }

    /// Adds an alternative for systems that do not support this option or cannot listen for it (RFC 8252 §7.2).
    ///
    /// If the system refuses the first option only when the page is to be opened, the client starts over with the
    /// alternative and a new request, because the request contains the redirect URI.
    public func otherwise(_ other: RedirectOption) -> RedirectOption {
        RedirectOption(alternatives: alternatives + other.alternatives)
    }

    /// The redirect URIs in the order in which they are tried.
    public var description: String { alternatives.map(Self.name).joined(separator: ", otherwise ") }

    private static func name(_ alternative: Alternative) -> String {
        switch alternative {
        case .loopback(let uri): uri.description
        case .customScheme(let uri): uri.description
        case .claimedHTTPS(let uri): uri.rawValue
        case .receiver: "a receiver of the app"
        }
    }
}

// MARK: - Registering

extension RedirectOption {
    /// Returns the option with a path for one issuer in place of the standard path of ``loopback``.
    ///
    /// Redirect URIs that the program has chosen stay.
    func separated(for issuer: Issuer) -> RedirectOption {
        RedirectOption(
            alternatives: alternatives.map { alternative in
                guard case .loopback(let uri) = alternative, uri == .standard || uri == .standardIPv6 else {
                    return alternative
                }
                return .loopback(uri.separated(for: issuer))
            })
    }

    /// Returns the redirect URIs to register at the server, so that it accepts the redirect URI of a receiver.
    ///
    /// RFC 8252 §7.3: a loopback URI is registered without a port, because the server allows any port. If the
    /// option lists ports, the result contains one URI for each of them.
    func registrable(_ redirectURI: RedirectURI) -> [String] {
        guard case .loopback(let host, let port?) = redirectURI.kind else { return [redirectURI.rawValue] }
        for case .loopback(let uri) in alternatives where uri.host == host && uri.ports.contains(port) {
            return uri.ports.compactMap { try? uri.redirectURI(port: $0).rawValue }
        }
        return [redirectURI.uri.withoutPort]
    }
}

// MARK: - Listening

extension RedirectOption {
    /// The kinds of redirect URI that a system supports.
    struct System: OptionSet {
        let rawValue: Int
        static let loopback = System(rawValue: 1)
        static let customSchemes = System(rawValue: 2)
        static let claimedHTTPS = System(rawValue: 4)

        static var current: System {
            #if os(iOS)
                // An app cannot start a browser, and the system suspends it while another app shows the page.
                webAuthentication
            #elseif os(macOS)
                // A scheme and an associated domain belong to an app bundle, which a command line tool has not.
                Bundle.main.bundleIdentifier == nil ? .loopback : [.loopback, webAuthentication]
            #elseif os(Linux)
                [.loopback, .customSchemes]
            #else
                .loopback
            #endif
        }

        #if os(iOS) || os(macOS)
            private static var webAuthentication: System {
                if #available(iOS 17.4, macOS 14.4, *) { [.customSchemes, .claimedHTTPS] } else { .customSchemes }
            }
        #endif
    }

    /// Returns the option with only the alternatives that a system supports; throws if it supports none.
    func usable(on system: System = .current) throws(SignInError) -> RedirectOption {
        let usable = alternatives.filter { alternative in
            switch alternative {
            case .receiver: true
            case .loopback: system.contains(.loopback)
            case .customScheme: system.contains(.customSchemes)
            case .claimedHTTPS: system.contains(.claimedHTTPS)
            }
        }
        guard !usable.isEmpty else {
            let remedy =
                system.contains(.loopback)
                ? "a loopback redirect URI, such as http://127.0.0.1/callback"
                : "a private-use scheme of the app, such as com.example.app:/callback"
            throw .unusable("this system cannot receive a response at \(self); use \(remedy)")
        }
        return RedirectOption(alternatives: usable)
    }

    /// Returns an option for each alternative that the system supports, in order; throws if it supports none.
    func eachUsable() throws(SignInError) -> [RedirectOption] {
        let option = try usable()
        return option.alternatives.map { RedirectOption(alternatives: [$0]) }
    }

    /// Returns a receiver for the first alternative that can listen.
    func listen() async throws(SignInError) -> any RedirectReceiver {
        var failure = SignInError.cannotListen("no redirect option was given")
        for alternative in try usable().alternatives {
            do throws(SignInError) { return try await Self.listen(alternative) } catch {
                guard case .cannotListen = error else { throw error }
                failure = error
            }
        }
        throw failure
    }

    private static func listen(_ alternative: Alternative) async throws(SignInError) -> any RedirectReceiver {
        switch alternative {
        case .loopback(let uri): return try await LoopbackReceiver.listen(at: uri)
        case .receiver(let listen): return try await listen()
        case .customScheme(let uri):
            #if os(iOS) || os(macOS)
                return try WebAuthenticationSessionReceiver(at: uri.redirectURI)
            #elseif os(Linux)
                return try await CustomSchemeReceiver.listen(at: uri)
            #else
                throw .unusable("this system cannot receive a response at \(uri)")
            #endif
        case .claimedHTTPS(let uri):
            #if os(iOS) || os(macOS)
                return try WebAuthenticationSessionReceiver(at: uri)
            #else
                throw .unusable("this system cannot receive a response at \(uri)")
            #endif
        }
    }
}
