/// An untrusted text without the code points that a user cannot see.
///
/// Control characters, including bidirectional ones, and invisible letters are removed. Combining marks are
/// limited, and white space of any kind becomes an ordinary space. The result is plain text, not HTML.
package struct VisibleText {
    /// The code points that remain.
    package let scalars: String.UnicodeScalarView

    /// Removes the invisible code points from a text.
    ///
    /// - Parameters:
    ///   - chosen: The text, whose length the caller has limited.
    ///   - keepsLines: Whether line feeds and tabs are kept instead of becoming spaces.
    package init(of chosen: some Collection<Unicode.Scalar>, keepsLines: Bool = false) {
        var kept = String.UnicodeScalarView()
        var marks = 0
        var rest = chosen[...]
        while let scalar = rest.popFirst() {
            switch ScalarTreatment(of: scalar) {
            case .drop:
                continue
            case .space:
                kept.append(keepsLines && (scalar == "\n" || scalar == "\t") ? scalar : " ")
            case .joiner:
                // A joiner changes the shape of Persian and Indic letters and of emoji. After an ASCII character, or
                // at the end of the text, it has no visible effect and is dropped.
                guard let last = kept.last, !last.isASCII, !rest.isEmpty else { continue }
                kept.append(scalar)
            case .mark:
                marks += 1
                guard marks <= 3, let last = kept.last, last != " ", last != "\n", last != "\t" else { continue }
                kept.append(scalar)
            case .keep:
                marks = 0
                kept.append(scalar)
            }
        }
        scalars = kept
    }
}

/// The treatment of one code point (Unicode scalar) of an untrusted text.
private enum ScalarTreatment {
    case keep
    case mark
    case joiner
    case space
    case drop

    /// Code points without a visible glyph that may take up space or affect the text after them, such as the Hangul
    /// fillers.
    private static let unseen: Set<Unicode.Scalar> = [
        "\u{034F}", "\u{115F}", "\u{1160}", "\u{17B4}", "\u{17B5}", "\u{3164}", "\u{FFA0}", "\u{FFFC}",
    ]

    init(of scalar: Unicode.Scalar) {
        if (0x20...0x7E).contains(scalar.value) {
            self = scalar == " " ? .space : .keep
            return
        }
        if scalar == "\u{200C}" || scalar == "\u{200D}" {
            self = .joiner
            return
        }
        if Self.unseen.contains(scalar) || scalar.properties.isNoncharacterCodePoint {
            self = .drop
            return
        }
        switch scalar.properties.generalCategory {
        case .control where scalar.properties.isWhitespace, .spaceSeparator, .lineSeparator, .paragraphSeparator:
            self = .space
        // The category `format` includes all bidirectional controls (UAX #9 §2) and the invisible tag characters.
        case .control, .format, .surrogate, .privateUse, .unassigned:
            self = .drop
        case .nonspacingMark, .enclosingMark:
            self = .mark
        default:
            self = scalar == "\u{2800}" ? .space : .keep
        }
    }
}
