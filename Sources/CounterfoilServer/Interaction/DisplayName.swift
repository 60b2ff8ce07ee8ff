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

    private static func visible(_ chosen: String) -> String {
        // A reader never sees more than the first characters, so no more than a bounded part is looked at.
        let scalars = Array(chosen.unicodeScalars.prefix(maximumLength * 16))
        var kept = String.UnicodeScalarView()
        var pendingSpace = false
        var marks = 0
        for (index, scalar) in scalars.enumerated() {
            switch Treatment(of: scalar) {
            case .drop:
                continue
            case .space:
                pendingSpace = !kept.isEmpty
                continue
            case .joiner:
                // Joiners shape Persian and Indic letters and emoji; beside a plain letter they only hide.
                guard let last = kept.last, !last.isASCII, index + 1 < scalars.count, !pendingSpace else { continue }
            case .mark:
                marks += 1
                guard marks <= 3, !kept.isEmpty, !pendingSpace else { continue }
            case .keep:
                marks = 0
            }
            if pendingSpace {
                kept.append(" ")
                pendingSpace = false
            }
            kept.append(scalar)
        }
        let name = String(kept)
        guard name.count > maximumLength || chosen.unicodeScalars.count > scalars.count else { return name }
        return name.prefix(maximumLength - 1) + "…"
    }
}

/// What becomes of one scalar of a chosen name.
private enum Treatment {
    case keep
    case mark
    case joiner
    case space
    case drop

    /// Letters, fillers and formats that take room or steer what follows, but show nothing.
    private static let unseen: Set<Unicode.Scalar> = [
        "\u{034F}", "\u{115F}", "\u{1160}", "\u{17B4}", "\u{17B5}", "\u{3164}", "\u{FFA0}", "\u{FFFC}",
    ]

    init(of scalar: Unicode.Scalar) {
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
