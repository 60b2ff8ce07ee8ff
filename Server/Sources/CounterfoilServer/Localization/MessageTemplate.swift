/// A text of the catalogue after parsing: plain text, placeholders and bold parts.
package struct MessageTemplate: Sendable, Hashable {
    /// A part of the text, or the border of a bold part.
    package enum Piece: Sendable, Hashable {
        case text(String)
        /// A placeholder, `{name}`, which a value replaces.
        case placeholder(String)
        /// The start of bold text: the first asterisk of a pair, before a letter, digit or placeholder.
        case boldBegins
        /// The end of bold text: the second asterisk of a pair.
        case boldEnds
    }

    package enum Refusal: Error, Hashable {
        /// The text has an unmatched brace, or a placeholder whose name does not have 1 to 64 ASCII letters, digits,
        /// dots and hyphens.
        case brokenPlaceholder
    }

    package let pieces: [Piece]

    /// The names of the placeholders in the text.
    package var placeholders: Set<String> {
        Set(pieces.compactMap { if case .placeholder(let name) = $0 { name } else { nil } })
    }

    /// Parses a text with placeholders in braces and bold parts between asterisks.
    package init(parsing text: String) throws(Refusal) {
        guard text.utf8.contains(where: { $0 == 0x7B || $0 == 0x7D || $0 == 0x2A }) else {
            pieces = text.isEmpty ? [] : [.text(text)]
            return
        }
        var pieces: [Piece] = []
        var plain = ""
        var isBold = false
        func endPlain() {
            if !plain.isEmpty { pieces.append(.text(plain)) }
            plain = ""
        }
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "{":
                guard let end = rest.firstIndex(of: "}"), Self.isName(rest[..<end]) else { throw .brokenPlaceholder }
                endPlain()
                pieces.append(.placeholder(String(rest[..<end])))
                rest = rest[rest.index(after: end)...]
            case "}":
                throw .brokenPlaceholder
            case "*" where isBold:
                endPlain()
                pieces.append(.boldEnds)
                isBold = false
            // An asterisk that does not begin a pair, as in *.example.com, is plain text.
            case "*" where rest.first.map({ $0.isLetter || $0.isNumber || $0 == "{" }) == true && rest.contains("*"):
                endPlain()
                pieces.append(.boldBegins)
                isBold = true
            default:
                plain.append(character)
            }
        }
        endPlain()
        self.pieces = pieces
    }

    private static func isName(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") }
    }
}
