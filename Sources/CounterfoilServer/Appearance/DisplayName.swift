/// An untrusted name, made safe for display on a page.
///
/// The name of a client, a publisher or a user can contain anything: controls that reverse the text,
/// invisible characters, a page of text. This type is the only place that sanitizes such names. It removes
/// bidirectional and other control characters and invisible letters, collapses white space, limits
/// combining marks, and cuts the text at ``maximumLength`` characters. The result is text, not HTML: the
/// renderer has to escape it.
public struct DisplayName: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The most characters (grapheme clusters) that are shown; a longer name ends in an ellipsis.
    public static let maximumLength = 60

    /// The sanitized name; never empty.
    public let description: String

    /// Sanitizes a name.
    ///
    /// - Parameters:
    ///   - chosen: The name as registered, of any length and content.
    ///   - fallback: The text to show if nothing visible remains; for a client, its identifier.
    public init(_ chosen: String, orElse fallback: String = "") {
        let visible = Self.visible(chosen)
        if !visible.isEmpty {
            description = visible
            return
        }
        let visibleFallback = Self.visible(fallback)
        description = visibleFallback.isEmpty ? "?" : visibleFallback
    }

    /// Sanitizes the name of a user; the username replaces one with nothing visible.
    package init(of person: Person) { self.init(person.displayName, orElse: person.username.rawValue) }

    /// Creates a name from a literal.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// One or two characters that replace a missing logo: `EP` for Example Photos, `Li` for Lightbox.
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

    /// Returns true if a name has any visible character.
    static func isVisible(_ chosen: String) -> Bool { !visible(chosen).isEmpty }

    /// Whether a name contains something that is never shown: a control, an invisible letter, or too many
    /// combining marks.
    static func hidesSomething(_ chosen: String) -> Bool {
        VisibleText(of: chosen.unicodeScalars).scalars.count != chosen.unicodeScalars.count
    }

    private static func visible(_ chosen: String) -> String {
        // Only the first characters are shown, so only a bounded part is read.
        let scalars = chosen.unicodeScalars.prefix(maximumLength * 16)
        let words = VisibleText(of: scalars).scalars.split(separator: " ")
        let name = words.map(String.init).joined(separator: " ")
        guard name.count > maximumLength || scalars.endIndex < chosen.unicodeScalars.endIndex else { return name }
        return name.prefix(maximumLength - 1) + "…"
    }
}
