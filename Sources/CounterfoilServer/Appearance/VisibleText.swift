/// The visible part of an untrusted text.
///
/// Bidirectional and other controls and invisible letters are removed, combining marks are limited, and
/// every kind of white space becomes a plain space. The result is text, not HTML.
struct VisibleText {
    /// The remaining characters.
    let scalars: String.UnicodeScalarView

    /// Keeps the visible characters of a text.
    ///
    /// - Parameters:
    ///   - chosen: The text, whose length the caller has limited.
    ///   - keepsLines: Whether line feeds and tabs are kept.
    init(of chosen: some Collection<Unicode.Scalar>, keepsLines: Bool = false) {
        var kept = String.UnicodeScalarView()
        var marks = 0
        var rest = chosen[...]
        while let scalar = rest.popFirst() {
            switch Treatment(of: scalar) {
            case .drop:
                continue
            case .space:
                kept.append(keepsLines && (scalar == "\n" || scalar == "\t") ? scalar : " ")
            case .joiner:
                // Joiners shape Persian and Indic letters and emoji. After an ASCII letter they are only
                // invisible.
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

/// The treatment of one scalar of an untrusted text.
private enum Treatment {
    case keep
    case mark
    case joiner
    case space
    case drop

    /// Letters, fillers and format characters that take space or affect the following text, but show nothing.
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
        // Format characters include every bidirectional control (UAX #9 §2) and the invisible tag letters.
        case .control, .format, .surrogate, .privateUse, .unassigned:
            self = .drop
        case .nonspacingMark, .enclosingMark:
            self = .mark
        default:
            self = scalar == "\u{2800}" ? .space : .keep
        }
    }
}
