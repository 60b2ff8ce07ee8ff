/// An API that tokens are for: a resource indicator.
///
/// Wire name `resource`, RFC 8707 §2: an absolute URI without a fragment, compared byte for byte. It becomes the `aud` of an
/// access token.
public struct Resource: Sendable, Hashable, CustomStringConvertible {
    /// Why a text is not a resource indicator.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// It is not an absolute URI.
        case uri(AbsoluteURI.Refusal)
        /// It has a fragment (RFC 8707 §2).
        case fragment

        /// What happened, safe to show.
        public var description: String {
            switch self {
            case .uri(let refusal): "the resource is not an absolute URI: \(refusal)"
            case .fragment: "the resource has a fragment, which it must not"
            }
        }
    }

    /// The most resources that one request may name.
    public static let limit = 20

    /// The URI, byte for byte.
    public let rawValue: String

    /// Reads a resource indicator.
    public init(_ text: String) throws(Refusal) {
        let uri: AbsoluteURI
        do { uri = try AbsoluteURI(parsing: text) } catch { throw .uri(error) }
        guard uri.fragment == nil else { throw .fragment }
        rawValue = uri.rawValue
    }

    /// The URI, byte for byte.
    public var description: String { rawValue }
}
