package import CounterfoilStore

/// An untrusted name, made safe for display on a page.
///
/// The name of a client, a publisher or a user can contain anything, such as control characters that reverse
/// the text direction, invisible characters or very long text. Only this type sanitizes such names. It:
///
/// - removes control characters, including bidirectional ones, and invisible letters,
/// - collapses white space and limits combining marks, and
/// - cuts the text at ``maximumLength`` characters.
///
/// The result is plain text, which the renderer must escape in HTML.
public struct DisplayName: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The maximum number of characters (grapheme clusters); a longer name is cut and ends in an ellipsis.
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

    /// Sanitizes the display name of a user; if nothing visible remains, the username is used.
    package init(of user: User) { self.init(user.displayName, orElse: user.username.rawValue) }

    /// Creates the shown form of a host or of several.
    ///
    /// A long one loses its beginning, because its end tells whose it is.
    init(host: String) {
        description = host.count > Self.maximumLength ? "…" + host.suffix(Self.maximumLength - 1) : host
    }

    /// Creates a name again from the ``description`` of one that this server made.
    init(shown description: String) { self.description = description }

    /// Returns the name followed by the host by which its bearer is known: `Photo Viewer (viewer.example)`.
    ///
    /// The host is always the last part, whatever the name contains. It is isolated from a name that is written from
    /// right to left, which could change the order of its labels (Unicode Standard Annex #9 §2.4).
    func of(_ host: String) -> DisplayName {
        let host = DisplayName(host: host).description
        guard !host.isEmpty, host != description else { return self }
        let isASCII = description.utf8.allSatisfy { $0 < 0x80 }
        return DisplayName(shown: "\(description) (" + (isASCII ? host : "\u{2066}\(host)\u{2069}") + ")")
    }

    /// Creates a name from a literal, which is sanitized too.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// One or two characters that are shown instead of a missing logo: `EP` for Example Photos, `Li` for Lightbox.
    ///
    /// A word in parentheses, such as a host, has no part in them.
    public var initials: String {
        let parts = description.split(separator: " ")
        let words = (parts.prefix(1) + parts.dropFirst().filter { !$0.hasPrefix("(") }).compactMap { word in
            word.drop { !$0.isLetter && !$0.isNumber }.first
        }
        guard let first = words.first else { return String(description.prefix(1)) }
        guard let second = words.dropFirst().first else {
            let word = description.drop { !$0.isLetter && !$0.isNumber }
            return first.uppercased() + word.dropFirst().prefix(1).filter { $0.isLetter || $0.isNumber }
        }
        return first.uppercased() + second.uppercased()
    }

    /// Returns true if a name has at least one visible character.
    package static func isVisible(_ chosen: String) -> Bool { !visible(chosen).isEmpty }

    /// Returns true if a name contains code points that sanitizing removes: control characters, invisible letters
    /// or excess combining marks.
    static func hidesSomething(_ chosen: String) -> Bool {
        VisibleText(of: chosen.unicodeScalars).scalars.count != chosen.unicodeScalars.count
    }

    /// Returns true if pages show a text as it is written: it is on one line, without invisible characters.
    ///
    /// - Parameters:
    ///   - text: The text, without white space at its ends.
    ///   - length: The allowed number of characters.
    package static func isShownWhole(_ text: String, length: ClosedRange<Int>) -> Bool {
        length.contains(text.count) && isVisible(text) && !text.contains(where: \.isNewline) && !hidesSomething(text)
    }

    private static func visible(_ chosen: String) -> String {
        // Only the first characters are shown, so only a limited number of code points is processed.
        let scalars = chosen.unicodeScalars.prefix(maximumLength * 16)
        let words = VisibleText(of: scalars).scalars.split(separator: " ")
        let name = words.map(String.init).joined(separator: " ")
        guard name.count > maximumLength || scalars.endIndex < chosen.unicodeScalars.endIndex else { return name }
        return name.prefix(maximumLength - 1) + "…"
    }
}
