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
    /// The maximum number of brackets and braces outside of comment lines, which bounds the depth of lists in lists.
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
        if let other = controlCharacter(in: line) {
            throw mistake("a control character (U+\(String(other.value, radix: 16, uppercase: true)))")
        }
        let indentation = line.prefix { $0 == " " || $0 == "\t" }
        let content = line.dropFirst(indentation.count)
        guard !content.hasPrefix("#") else { return 0 }
        // A comment after a value counts as a part of it here, because quotes are not parsed.
        guard !line.contains("\t") else { throw mistake("a tab; YAML is indented with spaces only") }
        guard indentation.count <= indentationLimit else {
            throw mistake("more than \(indentationLimit) spaces of indentation")
        }
        guard content.firstMatch(of: #/^[-?:] +[-?]( |$)|^\? /#) == nil else {
            throw mistake("a list in a list; a setting is one value, or a list of values")
        }
        guard content.firstMatch(of: #/(?:^|^-+ +|: +|["']: *|[\[{,] *)[&*!][^\s]/#) == nil else {
            throw mistake(
                "an anchor, an alias or a tag of YAML, which settings cannot have; quote a value with & * or !")
        }
        return content.count { $0 == "[" || $0 == "{" }
    }

    /// Returns the first control character of a line, or line break that only YAML knows; nil if there is none.
    private static func controlCharacter(in line: String) -> Unicode.Scalar? {
        let scalars = line.unicodeScalars
        let content = scalars.last == "\r" ? scalars.dropLast() : scalars[...]
        return content.first { scalar in
            scalar.value < 0x20 && scalar != "\t" || (0x7F...0x9F).contains(scalar.value)
                || (0x2028...0x2029).contains(scalar.value)
        }
    }
}
