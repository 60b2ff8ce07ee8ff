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
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard (1...64).contains(text.utf8.count), isName else { return nil }
        rawValue = text
    }

    init(known: String) { rawValue = known }

    /// The name, the same as ``rawValue``.
    public var description: String { rawValue }
}
