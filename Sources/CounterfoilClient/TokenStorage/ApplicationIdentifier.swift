@_spi(Counterfoil) import CounterfoilProtocol

/// The identifier of an app, which separates its tokens and registrations from those of other apps of the same user.
///
/// It is a name in reverse DNS notation, such as `com.example.lightbox`: on Apple devices the bundle identifier, on
/// Linux the name of the desktop entry. Two apps with the same identifier share their stored sign-ins.
public struct ApplicationIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The identifier, in lower case.
    public let rawValue: String

    /// The identifier of the command line `counterfoil`, which existed before applications had identifiers.
    package static let commandLine = ApplicationIdentifier(known: "counterfoil")

    /// The reason why ``ApplicationIdentifier/init(_:)`` rejects a text.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text is not 2 or more labels of letters, digits, `-` and `_`, separated by dots.
        case notReverseDNS

        /// The reason and the remedy as a clause for messages, without a full stop.
        public var description: String {
            "an application identifier must be a name in reverse DNS notation, such as com.example.lightbox"
        }
    }

    /// Parses an identifier of at most 155 characters in reverse DNS notation; upper case is converted to lower case.
    ///
    /// Each of the labels, at least two, has 1 to 63 ASCII letters, digits, hyphens and underscores, and begins with a
    /// letter or a digit.
    public init(_ text: String) throws(Refusal) {
        // Unicode has letters that are ASCII only in lower case, such as the Kelvin sign.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { throw .notReverseDNS }
        let text = text.lowercased()
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 155, labels.count >= 2, labels.allSatisfy(Self.isLabel) else { throw .notReverseDNS }
        rawValue = text
    }

    private init(known: String) { rawValue = known }

    /// The identifier, the same as ``rawValue``.
    public var description: String { rawValue }

    private static func isLabel(_ label: Substring) -> Bool {
        guard (1...63).contains(label.utf8.count), let first = label.utf8.first else { return false }
        return first != UInt8(ascii: "-") && first != UInt8(ascii: "_")
            && label.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
    }
}

extension ApplicationIdentifier {
    /// The first words of the labels that the keychain and the Secret Service show to the user.
    var label: String { self == .commandLine ? "Counterfoil" : "Counterfoil (\(rawValue))" }
}
