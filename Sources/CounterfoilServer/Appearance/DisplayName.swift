/// A name that somebody else chose, made fit to be shown on a page of ours.
///
/// An application's name, its publisher's or a person's can hold anything: controls that turn the text around,
/// characters that cannot be seen, a page of text. This type is the one place where such a name is made harmless:
/// bidirectional and other control characters and invisible letters are gone, white space is single, stacked marks are
/// few and the length is at most ``maximumLength`` characters. It is still text, not HTML: whoever prints it escapes it.
public struct DisplayName: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The longest name that is shown, in characters as a reader counts them; what is longer ends in an ellipsis.
    public static let maximumLength = 60

    /// The name as it may be shown; never empty.
    public let description: String

    /// Makes a chosen name fit to be shown.
    ///
    /// - Parameters:
    ///   - chosen: the name as it was registered, of any length and content.
    ///   - fallback: what is shown when nothing visible remains; for an application, its client identifier.
    public init(_ chosen: String, orElse fallback: String = "") {
        let visible = Self.visible(chosen)
        if !visible.isEmpty {
            description = visible
            return
        }
        let visibleFallback = Self.visible(fallback)
        description = visibleFallback.isEmpty ? "?" : visibleFallback
    }

    /// Makes a name that stands in the source.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// One or two characters that stand for the name where there is no picture: `EP` for Example Photos, `Li` for Lightbox.
    public var initials: String {
        let words = description.split(separator: " ").compactMap { word in
            word.drop { !$0.isLetter && !$0.isNumber }.first
        }
        guard let first = words.first else { return String(description.prefix(1)) }
        guard let second = words.dropFirst().first else {
            let word = description.drop { !$0.isLetter && !$0.isNumber }
            return first.uppercased() + word.dropFirst().prefix(1).filter { $0.isLetter || $0.isNumber }
        }
        return first.uppercased() + second.uppercased()
    }

    /// Whether anything of a chosen name can be seen.
    static func isVisible(_ chosen: String) -> Bool { !visible(chosen).isEmpty }

    /// Whether a chosen name holds something that is never shown: a control, an invisible letter, or stacked marks.
    static func hidesSomething(_ chosen: String) -> Bool {
        VisibleText(of: chosen.unicodeScalars).scalars.count != chosen.unicodeScalars.count
    }

    private static func visible(_ chosen: String) -> String {
        // A reader never sees more than the first characters, so no more than a bounded part is looked at.
        let scalars = chosen.unicodeScalars.prefix(maximumLength * 16)
        let words = VisibleText(of: scalars).scalars.split(separator: " ")
        let name = words.map(String.init).joined(separator: " ")
        guard name.count > maximumLength || scalars.endIndex < chosen.unicodeScalars.endIndex else { return name }
        return name.prefix(maximumLength - 1) + "…"
    }
}
