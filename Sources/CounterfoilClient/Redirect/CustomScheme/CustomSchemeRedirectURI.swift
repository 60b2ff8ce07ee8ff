public import CounterfoilProtocol

/// A redirect URI with a private-use URI scheme, such as `com.example.lightbox:/callback`.
///
/// RFC 8252 §7.1: the scheme is a domain name of the developer in reverse order, so no other developer has a
/// reason to use it. A single slash follows the scheme, because the URI has no authority.
public struct CustomSchemeRedirectURI: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a redirect URI has no usable private-use scheme.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text is not a valid redirect URI.
        case notARedirectURI(RedirectURI.Refusal)
        /// The redirect URI is a loopback or https URI.
        case notAPrivateScheme
        /// The scheme is registered at IANA for another purpose (RFC 7595); the associated value is the scheme.
        case registered(String)
        /// The scheme, given as the associated value, is no reversed domain name (RFC 8252 §7.1 and §8.4).
        case notReversedDomain(String)
        /// The scheme is not followed by exactly one slash.
        case notASingleSlash

        /// A description of the problem and its remedy, safe to show to users.
        public var description: String {
            switch self {
            case .notARedirectURI(let refusal): "the redirect URI cannot be used: \(refusal)"
            case .notAPrivateScheme: "the redirect URI has no private-use scheme, such as com.example.app:/callback"
            case .registered(let scheme):
                "the scheme \(scheme): is registered for general use; use a reversed domain name of yours"
            case .notReversedDomain(let scheme):
                "the scheme \(scheme): is not a reversed domain name; use one of yours, as in com.example.app:/callback"
            case .notASingleSlash: "exactly one slash must follow the scheme, as in com.example.app:/callback"
            }
        }
    }

    /// The redirect URI exactly as it was parsed, without normalization.
    public let redirectURI: RedirectURI
    /// The scheme, in lower case.
    public let scheme: String

    /// Parses a redirect URI, as it is registered at the server.
    public init(_ text: String) throws(Refusal) {
        let uri: RedirectURI
        do { uri = try RedirectURI(text) } catch { throw .notARedirectURI(error) }
        guard case .privateUseScheme(let scheme) = uri.kind else { throw .notAPrivateScheme }
        guard !Self.registeredSchemes.contains(scheme) else { throw .registered(scheme) }
        guard Self.isReversedDomain(scheme) else { throw .notReversedDomain(scheme) }
        guard !uri.uri.hasAuthority, uri.uri.path.hasPrefix("/") else { throw .notASingleSlash }
        redirectURI = uri
        self.scheme = scheme
    }

    /// The redirect URI exactly as it was parsed, without normalization.
    public var description: String { redirectURI.rawValue }

    /// Returns whether a scheme consists of a top-level domain and at least one more label (RFC 1123 §2.1).
    private static func isReversedDomain(_ scheme: String) -> Bool {
        let labels = scheme.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, let top = labels.first, top.utf8.count >= 2, scheme.utf8.count <= 200 else {
            return false
        }
        guard top.hasPrefix("xn--") || top.allSatisfy(\.isLetter) else { return false }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
        }
    }

    /// The schemes in the registry of RFC 7595 that contain a period and so look like a reversed domain name.
    private static let registeredSchemes: Set<String> = [
        "iris.beep", "iris.lwz", "iris.xpc", "iris.xpcs", "microsoft.windows.camera",
        "microsoft.windows.camera.multipicker", "microsoft.windows.camera.picker", "soap.beep", "soap.beeps",
        "xmlrpc.beep", "xmlrpc.beeps", "z39.50", "z39.50r", "z39.50s",
    ]
}
