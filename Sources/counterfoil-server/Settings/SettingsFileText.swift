import Foundation

/// The text of a settings file, checked before the YAML parser reads it.
///
/// The checks make errors clear that the parser reports late or not at all, and bound its depth: its own limits allow
/// documents that need more stack than a thread has.
struct SettingsFileText {
    let text: String

    /// An error in a line of the file.
    struct Mistake: Error {
        /// The number of the line, from 1.
        let line: Int
        let reason: String
    }

    /// The longest line in bytes.
    private static let lineLimit = 8192
    /// The maximum number of brackets and braces outside of comments, which bounds the depth of lists in lists.
    private static let bracketLimit = 256
    /// The deepest indentation.
    private static let indentationLimit = 64

    init(_ bytes: [UInt8]) throws(Mistake) {
        let marks: [[UInt8]] = [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF]]
        if marks.contains(where: bytes.starts(with:)) {
            throw Mistake(line: 1, reason: "the file begins with a byte order mark; save it as UTF-8 without one")
        }
        var brackets = 0
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            do { brackets += try Self.check(line) } catch { throw Mistake(line: index + 1, reason: error.reason) }
            guard brackets <= Self.bracketLimit else {
                throw Mistake(line: index + 1, reason: "more than \(Self.bracketLimit) brackets and braces")
            }
        }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// Checks a line, and returns the number of its brackets and braces.
    private static func check(_ bytes: ArraySlice<UInt8>) throws(Mistake) -> Int {
        func mistake(_ reason: String) -> Mistake { Mistake(line: 0, reason: reason) }
        guard bytes.count <= lineLimit else { throw mistake("the line is longer than \(lineLimit) bytes") }
        guard let line = String(validating: bytes, as: UTF8.self) else {
            throw mistake("the line is not UTF-8 text; save the file as UTF-8")
        }
        let indentation = line.prefix { $0 == " " || $0 == "\t" }
        let content = line.dropFirst(indentation.count)
        guard !content.hasPrefix("#") else { return 0 }
        guard !indentation.contains("\t") else { throw mistake("a tab; YAML is indented with spaces only") }
        guard indentation.count <= indentationLimit else {
            throw mistake("more than \(indentationLimit) spaces of indentation")
        }
        if let other = line.unicodeScalars.first(where: {
            $0.value < 0x20 && $0 != "\t" && $0 != "\r" || $0 == "\u{7F}"
        }) {
            throw mistake("a control character (U+\(String(other.value, radix: 16, uppercase: true)))")
        }
        guard content.firstMatch(of: #/^[-?:] +[-?]( |$)|^\? /#) == nil else {
            throw mistake("a list in a list; a setting is one value, or a list of values")
        }
        let values = content.prefix(upTo: content.firstRange(of: " #")?.lowerBound ?? content.endIndex)
        guard values.firstMatch(of: #/(?:^|^- +|: +|[\[{,] *)[&*!][^\s]/#) == nil else {
            throw mistake(
                "an anchor, an alias or a tag of YAML, which settings cannot have; quote a value with & * or !")
        }
        return values.count { $0 == "[" || $0 == "{" }
    }
}
