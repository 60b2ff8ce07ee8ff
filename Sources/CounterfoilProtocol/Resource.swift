/// A resource indicator, which identifies an API.
///
/// The parameter `resource`, RFC 8707 §2: an absolute URI without a fragment, compared byte for byte. It
/// becomes the `aud` claim of an access token.
public struct Resource: Sendable, Hashable, CustomStringConvertible {
    /// The error with which ``Resource/init(_:)`` rejects a string; in a request it leads to `invalid_target`.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The string is not an absolute URI; the associated value is the reason.
        case uri(AbsoluteURI.Refusal)
        /// The URI has a fragment (RFC 8707 §2).
        case fragment

        /// An explanation that is safe to show to users.
        public var description: String {
            switch self {
            case .uri(let refusal): "the resource is not an absolute URI: \(refusal)"
            case .fragment: "the resource must not have a fragment"
            }
        }
    }

    /// The maximum number of distinct resources in one request.
    public static let limit = 20

    /// The URI byte for byte, as it is sent and as it becomes the `aud` claim.
    public let rawValue: String

    /// Parses a resource indicator of at most ``AbsoluteURI/byteLimit`` bytes.
    public init(_ text: String) throws(Refusal) {
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: text) } catch { throw .uri(error) }
        guard uri.fragment == nil else { throw .fragment }
        rawValue = uri.rawValue
    }

    /// The URI byte for byte; equal to ``rawValue``.
    public var description: String { rawValue }
}
