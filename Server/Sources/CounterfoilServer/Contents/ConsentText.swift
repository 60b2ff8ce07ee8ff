/// A Markdown text for the consent page, by the service or by the developer of a client.
///
/// The text remains untrusted, so the page shows it in a separate area that names its author.
package struct ConsentText: Sendable, Hashable {
    /// The maximum length of a text, in Unicode scalars.
    package static let characterLimit = 4000
    /// The maximum number of lines of a text.
    package static let lineLimit = 200

    /// The source text, with line feeds as line ends.
    package let markdown: String
    /// The HTML for the page; it has visible content.
    package let html: SafeHTML

    /// Parses a text, for registration and for the page.
    package init(markdown source: String, formats: ContentFormats) throws(Refusal) {
        markdown = try Self.checked(source)
        html = SafeHTML(unsafeTrusting: try formats.html(markdown))
    }

    private static func checked(_ source: String) throws(Refusal) -> String {
        // Browsers submit each line end as CRLF (HTML §4.10.22.4). It becomes a line feed, so that it counts as one
        // character of the length limit.
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
    package enum Refusal: Error, Localized, Hashable {
        /// More than ``ConsentText/characterLimit`` characters.
        case tooLong(characters: Int)
        /// More than ``ConsentText/lineLimit`` lines.
        case tooManyLines
        /// A control character other than a line end or a tab.
        case controlCharacter(line: Int)
        /// So many or so long links that the HTML would be many times the size of the text.
        case tooMuchMarkup
        /// A text without visible content.
        case nothingToSee

        /// The error message with the remedy.
        package var text: LocalizedText {
            switch self {
            case .tooLong(let characters):
                LocalizedText(
                    "consent-text.too-long",
                    ["characters": .number(characters), "limit": .number(ConsentText.characterLimit)]
                )
            case .tooManyLines: LocalizedText("consent-text.too-many-lines", ["limit": .number(ConsentText.lineLimit)])
            case .controlCharacter(let line): LocalizedText("consent-text.control-character", ["line": .number(line)])
            case .tooMuchMarkup: LocalizedText("consent-text.too-much-markup")
            case .nothingToSee: LocalizedText("consent-text.nothing-to-see")
            }
        }
    }
}
