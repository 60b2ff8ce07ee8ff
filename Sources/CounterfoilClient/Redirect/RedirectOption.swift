public import CounterfoilProtocol

/// How the answer comes back to the application: one of the three ways of RFC 8252 §7, or another receiver.
///
///     signIn.redirect = .loopback
///     signIn.redirect = try .claimedHTTPS("https://lightbox.example/callback").otherwise(.customScheme("com.example.lightbox:/callback"))
///
/// Every redirect URI in it must be registered at the server.
public struct RedirectOption: Sendable, CustomStringConvertible {
    /// Why a redirect URI is not usable in the way that was asked for.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Not a redirect URI at all.
        case notARedirectURI(RedirectURI.Refusal)
        /// Not an address on the device itself.
        case notLoopback(LoopbackAddress.Refusal)
        /// Not an address with a scheme of the application's own.
        case notACustomScheme(CustomSchemeAddress.Refusal)
        /// Not an https address.
        case notHTTPS

        /// What happened and what to do, safe to show.
        public var description: String {
            switch self {
            case .notARedirectURI(let refusal): "the redirect URI cannot be used: \(refusal)"
            case .notLoopback(let refusal): "\(refusal)"
            case .notACustomScheme(let refusal): "\(refusal)"
            case .notHTTPS: "the redirect URI is not an https address, as https://app.example.com/callback is"
            }
        }
    }

    /// Makes a receiver that listens.
    public typealias Listen = @Sendable () async throws(SignInError) -> any RedirectReceiver

    private enum Way: Sendable {
        case loopback(LoopbackAddress)
        case customScheme(CustomSchemeAddress)
        case claimedHTTPS(RedirectURI)
        case receiver(Listen)
    }

    private var ways: [Way]

    /// `http://127.0.0.1/callback` on any free port, and on a device without IPv4 the same on `[::1]` (RFC 8252 §7.3).
    public static let loopback = RedirectOption(ways: [.loopback(.standard), .loopback(.standardIPv6)])

    /// A port of the device itself (RFC 8252 §7.3).
    public static func loopback(_ address: LoopbackAddress) -> RedirectOption {
        RedirectOption(ways: [.loopback(address)])
    }

    /// A port of the device itself, by its redirect URI as it is registered; without a port any free one is taken.
    public static func loopback(_ redirectURI: String) throws(Refusal) -> RedirectOption {
        do { return .loopback(try LoopbackAddress(redirectURI)) } catch { throw .notLoopback(error) }
    }

    /// A scheme of the application's own, such as `com.example.lightbox:/callback` (RFC 8252 §7.1).
    ///
    /// On Apple platforms through `WebAuthenticationSessionReceiver`, on Linux through ``CustomSchemeReceiver``.
    public static func customScheme(_ redirectURI: String) throws(Refusal) -> RedirectOption {
        do { return RedirectOption(ways: [.customScheme(try CustomSchemeAddress(redirectURI))]) } catch {
            throw .notACustomScheme(error)
        }
    }

    /// An https address that the system gives to no application but this one (RFC 8252 §7.2).
    ///
    /// The best way where there is one: on Apple platforms, through `WebAuthenticationSessionReceiver`. Name another way
    /// with ``otherwise(_:)`` for systems without.
    public static func claimedHTTPS(_ redirectURI: String) throws(Refusal) -> RedirectOption {
        let uri: RedirectURI
        do { uri = try RedirectURI(redirectURI) } catch { throw .notARedirectURI(error) }
        guard case .https = uri.kind else { throw .notHTTPS }
        return RedirectOption(ways: [.claimedHTTPS(uri)])
    }

    /// A receiver of any other kind; each sign-in makes one of its own.
    public static func receiver(_ listen: @escaping Listen) -> RedirectOption {
        RedirectOption(ways: [.receiver(listen)])
    }

    /// The way that a redirect URI is for by its form: loopback, a scheme of the application's own, or claimed https.
    public static func registered(_ redirectURI: String) throws(Refusal) -> RedirectOption {
        let uri: RedirectURI
        do { uri = try RedirectURI(redirectURI) } catch { throw .notARedirectURI(error) }
        switch uri.kind {
        case .loopback: return try .loopback(redirectURI)
        case .privateUseScheme: return try .customScheme(redirectURI)
        case .https: return try .claimedHTTPS(redirectURI)
        }
    }

    /// This way, and another one where the system has no such way or it cannot be had (RFC 8252 §7.2).
    ///
    /// Which one it is is decided before the page is opened, because the request names the redirect URI.
    public func otherwise(_ other: RedirectOption) -> RedirectOption {
        RedirectOption(ways: ways + other.ways)
    }

    /// The redirect URIs in the order in which they are tried.
    public var description: String { ways.map(Self.name).joined(separator: ", otherwise ") }

    private static func name(_ way: Way) -> String {
        switch way {
        case .loopback(let address): address.description
        case .customScheme(let address): address.description
        case .claimedHTTPS(let uri): uri.rawValue
        case .receiver: "a receiver of the application"
        }
    }
}

// MARK: - Registering

extension RedirectOption {
    /// A redirect URI that a receiver listens at, as it is to be registered.
    ///
    /// RFC 8252 §7.3: one on the device without its port, because the server allows any; with every port that may be tried
    /// where ports are named.
    func registrable(_ redirectURI: RedirectURI) -> [String] {
        guard case .loopback(let host, let port?) = redirectURI.kind else { return [redirectURI.rawValue] }
        for case .loopback(let address) in ways where address.host == host && address.ports.contains(port) {
            return address.ports.compactMap { try? address.redirectURI(port: $0).rawValue }
        }
        return [redirectURI.uri.withoutPort]
    }
}

// MARK: - Listening

extension RedirectOption {
    /// What a system has beside ports of the device.
    struct System: OptionSet {
        let rawValue: Int
        static let customSchemes = System(rawValue: 1)
        static let claimedHTTPS = System(rawValue: 2)

        static var current: System {
            #if canImport(AuthenticationServices) && (os(iOS) || os(macOS))
                [.customSchemes, .claimedHTTPS]
            #elseif os(Linux)
                .customSchemes
            #else
                []
            #endif
        }
    }

    /// The ways that a system has, in the order in which they are tried; refused when there is none.
    func usable(on system: System = .current) throws(SignInError) -> RedirectOption {
        let usable = ways.filter { way in
            switch way {
            case .loopback, .receiver: true
            case .customScheme: system.contains(.customSchemes)
            case .claimedHTTPS: system.contains(.claimedHTTPS)
            }
        }
        guard !usable.isEmpty else {
            throw .unusable(
                "this system brings no answer to \(self); use a redirect URI on the device itself, as http://127.0.0.1/callback"
            )
        }
        return RedirectOption(ways: usable)
    }

    /// Listens in the first way that works.
    func listen() async throws(SignInError) -> any RedirectReceiver {
        var failure = SignInError.cannotListen("no way was given")
        for way in try usable().ways {
            do throws(SignInError) { return try await Self.listen(way) } catch {
                guard case .cannotListen = error else { throw error }
                failure = error
            }
        }
        throw failure
    }

    private static func listen(_ way: Way) async throws(SignInError) -> any RedirectReceiver {
        switch way {
        case .loopback(let address): return try await LoopbackReceiver.listen(at: address)
        case .receiver(let listen): return try await listen()
        case .customScheme(let address):
            #if canImport(AuthenticationServices) && (os(iOS) || os(macOS))
                return try WebAuthenticationSessionReceiver(at: address.redirectURI)
            #elseif os(Linux)
                return try await CustomSchemeReceiver.listen(at: address)
            #else
                throw .unusable("this system brings no answer to \(address)")
            #endif
        case .claimedHTTPS(let uri):
            #if canImport(AuthenticationServices) && (os(iOS) || os(macOS))
                return try WebAuthenticationSessionReceiver(at: uri)
            #else
                throw .unusable("this system brings no answer to \(uri)")
            #endif
        }
    }
}
