import CounterfoilPlatform

/// The texts of the elements of a small XML document, such as a response of an AWS query API.
///
/// The reader accepts an XML declaration, elements, attributes, which it ignores, and text with character references.
/// It rejects document types, comments, processing instructions and CDATA, which such responses do not contain, and an
/// element that occurs twice.
struct XMLElements {
    private var texts: [String: String] = [:]

    private static let maximumDepth = 8

    /// Parses a document; nil if it is malformed or contains anything else than elements and text.
    init?(_ bytes: [UInt8]) {
        guard let text = String(bytes: bytes, encoding: .utf8) else { return nil }
        var rest = text.unicodeScalars[...]
        if rest.first == "\u{FEFF}" { rest.removeFirst() }
        if rest.starts(with: "<?xml".unicodeScalars) {
            guard let end = rest.firstIndex(of: ">") else { return nil }
            rest = rest[end...].dropFirst()
        }
        guard parse(&rest) else { return nil }
    }

    /// The text of an element without child elements, by its path, such as `ErrorResponse/Error/Code`.
    subscript(path: String) -> String? { texts[path] }

    private mutating func parse(_ rest: inout Substring.UnicodeScalarView) -> Bool {
        var open: [Substring.UnicodeScalarView] = []
        var (text, isLeaf) = (rest.prefix(0), false)
        var hasEnded = false
        while let first = rest.first {
            guard first == "<" else {
                text = rest.prefix { $0 != "<" }
                rest = rest[text.endIndex...]
                if open.isEmpty, !text.allSatisfy(\.properties.isWhitespace) { return false }
                continue
            }
            guard let tag = Self.tag(&rest) else { return false }
            if tag.first == "/" {
                guard let name = open.last, tag.dropFirst().elementsEqual(name) else { return false }
                if isLeaf, !record(text, of: open) { return false }
                open.removeLast()
                (isLeaf, hasEnded) = (false, open.isEmpty)
            } else {
                let name = tag.prefix { !$0.properties.isWhitespace && $0 != "/" }
                guard !hasEnded, open.count < Self.maximumDepth, Self.isName(name) else { return false }
                let isEmpty = tag.last == "/"
                if !isEmpty { open.append(name) } else { hasEnded = open.isEmpty }
                isLeaf = !isEmpty
            }
            text = rest.prefix(0)
        }
        return hasEnded
    }

    private mutating func record(_ text: Substring.UnicodeScalarView, of open: [Substring.UnicodeScalarView]) -> Bool {
        let path = open.map { String($0) }.joined(separator: "/")
        guard texts[path] == nil, let decoded = Self.decoded(text) else { return false }
        texts[path] = decoded
        return true
    }

    /// Removes a tag and returns it without its angle brackets; nil if it has no end.
    ///
    /// The value of an attribute can contain the character `>`.
    private static func tag(_ rest: inout Substring.UnicodeScalarView) -> Substring.UnicodeScalarView? {
        var quote: Unicode.Scalar?
        let start = rest.index(after: rest.startIndex)
        for index in rest[start...].indices {
            let scalar = rest[index]
            if let open = quote {
                if scalar == open { quote = nil }
            } else if scalar == "\"" || scalar == "'" {
                quote = scalar
            } else if scalar == ">" {
                defer { rest = rest[index...].dropFirst() }
                return rest[start..<index]
            }
        }
        return nil
    }

    private static func isName(_ name: Substring.UnicodeScalarView) -> Bool {
        guard let first = name.first, first.properties.isAlphabetic || first == "_" else { return false }
        return name.allSatisfy {
            $0.properties.isAlphabetic || ("0"..."9").contains($0) || "_-.:".unicodeScalars.contains($0)
        }
    }

    /// Replaces character references (XML 1.0 §4.1); nil if one is unknown.
    private static func decoded(_ text: Substring.UnicodeScalarView) -> String? {
        let named: [String: Unicode.Scalar] = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        var (decoded, rest) = (String.UnicodeScalarView(), text)
        while let sign = rest.firstIndex(of: "&") {
            decoded += rest[..<sign]
            guard let end = rest[sign...].firstIndex(of: ";") else { return nil }
            let name = String(rest[sign..<end].dropFirst())
            let number =
                name.hasPrefix("#x")
                ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
            guard let scalar = named[name] ?? number.flatMap({ Unicode.Scalar($0) }) else { return nil }
            decoded.append(scalar)
            rest = rest[end...].dropFirst()
        }
        decoded += rest
        return String(decoded)
    }
}
