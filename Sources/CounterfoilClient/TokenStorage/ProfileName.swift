@_spi(Counterfoil) import CounterfoilProtocol

/// The name under which an app stores credentials.
///
/// An app uses one name for each combination of server and user.
public struct ProfileName: Sendable, Hashable, CustomStringConvertible {
    /// The name: 1 to 64 ASCII letters, digits, `-`, `_` and `.`.
    public let rawValue: String

    /// The name `default`.
    public static let standard = ProfileName(known: "default")

    /// Creates a name from 1 to 64 ASCII letters, digits, `-`, `_` and `.`; nil for any other text.
    public init?(_ text: String) {
        let isName = text.utf8.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
        guard (1...64).contains(text.utf8.count), isName else { return nil }
        rawValue = text
    }

    init(known: String) { rawValue = known }

    /// The name, the same as ``rawValue``.
    public var description: String { rawValue }
}
