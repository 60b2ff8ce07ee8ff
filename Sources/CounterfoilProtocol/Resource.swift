/// A resource indicator, which identifies an API.
///
/// The parameter `resource`, RFC 8707 §2: an absolute URI without a fragment. The URI with which an API is registered
/// becomes the `aud` claim of an access token.
///
/// Two values are equal if their URIs are equal after the normalization of RFC 3986 §6.2.2.1 and §6.2.3. The letter
/// case of scheme and host makes no difference. For http and https, neither does the default port, nor an empty path
/// instead of `/`. Everything else is compared byte for byte.
public struct Resource: Sendable, Hashable, CustomStringConvertible {
    /// The error with which ``Resource/init(_:)`` rejects a string; in a request it leads to `invalid_target`.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The string is not an absolute URI; the associated value is the reason.
        case uri(AbsoluteURI.Refusal)
        /// The URI has a fragment (RFC 8707 §2).
        case fragment
        /// The URI is longer than ``Resource/byteLimit`` bytes.
        case tooLong

        /// An explanation that is safe to show to users.
        public var description: String {
            switch self {
            case .uri(let refusal): "the resource is not an absolute URI: \(refusal)"
            case .fragment: "the resource must not have a fragment"
            case .tooLong: "the resource is longer than \(Resource.byteLimit) bytes"
            }
        }
    }

    /// The maximum number of distinct resources in one request.
    public static let limit = 20
    /// The maximum length of a resource indicator in bytes.
    ///
    /// PostgreSQL refuses a longer text in an index at about 2,700 bytes.
    public static let byteLimit = 2048

    /// The URI byte for byte, as it was parsed and as it is sent.
    public let rawValue: String
    /// The URI after normalization, the form in which resource indicators are compared.
    @_spi(Counterfoil) public let normalized: String

    /// Parses a resource indicator of at most ``byteLimit`` bytes.
    public init(_ text: String) throws(Refusal) {
        guard text.utf8.count <= Self.byteLimit else { throw .tooLong }
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: text) } catch { throw .uri(error) }
        guard uri.fragment == nil else { throw .fragment }
        rawValue = uri.rawValue
        normalized = uri.normalizedByScheme
    }

    /// The URI byte for byte; equal to ``rawValue``.
    public var description: String { rawValue }

    /// Returns true if two URIs are equal after normalization, even if they are spelled differently.
    public static func == (one: Resource, other: Resource) -> Bool { one.normalized == other.normalized }

    /// Hashes the URI after normalization.
    public func hash(into hasher: inout Hasher) { hasher.combine(normalized) }
}

extension AbsoluteURI {
    /// The URI after normalization of letter case (RFC 3986 §6.2.2.1), default port and empty path (§6.2.3).
    ///
    /// A URI without an authority is unchanged, except for the letter case of its scheme.
    fileprivate var normalizedByScheme: String {
        let scheme = scheme.lowercased()
        let rest = (query.map { "?\($0)" } ?? "") + (fragment.map { "#\($0)" } ?? "")
        guard let host else { return "\(scheme):\(path)\(rest)" }
        let defaultPorts = ["http": 80, "https": 443]
        let user = userInformation.map { "\($0)@" } ?? ""
        let port = port.flatMap { $0 == defaultPorts[scheme] ? nil : ":\($0)" } ?? ""
        let path = path.isEmpty && defaultPorts[scheme] != nil ? "/" : path
        return "\(scheme)://\(user)\(host.lowercased())\(port)\(path)\(rest)"
    }
}
