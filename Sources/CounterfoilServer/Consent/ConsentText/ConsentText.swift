/// What an application says of itself on the consent page, written in Markdown by whoever registered it.
///
/// CommonMark without raw HTML, which is dropped, and without pictures, which leave their alternative text. Headings are
/// below those of the page, links lead to https and mail only and name their host. It still is a stranger's text: a page
/// shows it in an area of its own that says whose words these are.
public struct ConsentText: Sendable, Hashable {
    /// The most characters (Unicode scalars) of a text.
    public static let characterLimit = 4000
    /// The most lines of a text.
    public static let lineLimit = 200

    /// The text as it was written, its line ends as line feeds.
    public let markdown: String
    /// The text as pages print it; something in it can be seen.
    public let html: SafeHTML

    /// Reads a text, for registration and for the page.
    public init(markdown source: String) throws(Refusal) {
        let markdown = try Self.checked(source)
        var writer = ConsentTextWriter()
        MarkdownDocument(parsing: markdown).walk { step in
            writer.write(step)
            return !writer.isFull
        }
        guard !writer.isFull else { throw .tooMuchMarkup }
        guard writer.showsText else { throw .nothingToSee }
        self.markdown = markdown
        html = SafeHTML(unsafeTrusting: writer.html)
    }

    private static func checked(_ source: String) throws(Refusal) -> String {
        // A form sends its line ends as two characters (HTML §4.10.22.4), which nobody has typed.
        let text = String(decoding: lineFeeds(in: source), as: UTF8.self)
        let count = text.unicodeScalars.count
        guard count <= characterLimit else { throw .tooLong(characters: count) }
        var line = 1
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                line += 1
            } else if isControl(scalar) && scalar != "\t" {
                throw .controlCharacter(line: line)
            }
        }
        guard line <= lineLimit else { throw .tooManyLines }
        return text
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
    }

    private static func lineFeeds(in source: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.utf8.count)
        var afterReturn = false
        for byte in source.utf8 {
            switch byte {
            case UInt8(ascii: "\n") where afterReturn: break
            case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "\n"))
            default: bytes.append(byte)
            }
            afterReturn = byte == UInt8(ascii: "\r")
        }
        return bytes
    }
}

extension ConsentText {
    /// Why a text cannot be registered.
    public enum Refusal: Error, Hashable, Sendable {
        /// More than ``ConsentText/characterLimit`` characters.
        case tooLong(characters: Int)
        /// More than ``ConsentText/lineLimit`` lines.
        case tooManyLines
        /// A control character other than a line end or a tab.
        case controlCharacter(line: Int)
        /// So many or so long links that the page would be many times the size of the text.
        case tooMuchMarkup
        /// Nothing of it would be seen.
        case nothingToSee

        /// What happened and what to do.
        public var text: Text {
            switch self {
            case .tooLong(let characters):
                Text(
                    ConsentTextPhrase.tooLong,
                    ["characters": .number(characters), "limit": .number(ConsentText.characterLimit)]
                )
            case .tooManyLines: Text(ConsentTextPhrase.tooManyLines, ["limit": .number(ConsentText.lineLimit)])
            case .controlCharacter(let line): Text(ConsentTextPhrase.controlCharacter, ["line": .number(line)])
            case .tooMuchMarkup: Text(ConsentTextPhrase.tooMuchMarkup)
            case .nothingToSee: Text(ConsentTextPhrase.nothingToSee)
            }
        }
    }
}

/// What is said of a text that cannot be registered.
package enum ConsentTextPhrase: String, Phrase {
    case tooLong = "consent-text.too-long"
    case tooManyLines = "consent-text.too-many-lines"
    case controlCharacter = "consent-text.control-character"
    case tooMuchMarkup = "consent-text.too-much-markup"
    case nothingToSee = "consent-text.nothing-to-see"
}
