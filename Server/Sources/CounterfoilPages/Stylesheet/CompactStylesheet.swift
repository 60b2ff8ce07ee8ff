/// A minified stylesheet, without comments, line breaks and redundant spaces.
///
/// The minifier supports only the CSS of this project. Strings are unchanged. A space before a colon or a
/// bracket stays, because it may separate selectors. A space after `{`, `}`, `;`, `:` or `,`, or on either side
/// of `>` or `~`, is removed.
struct CompactStylesheet {
    let bytes: [UInt8]

    init(_ source: [UInt8]) {
        var kept: [UInt8] = []
        kept.reserveCapacity(source.count)
        var rest = source[...]
        var pendingSpace = false
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "/") where rest.first == UInt8(ascii: "*"):
                rest = Self.afterComment(rest)
            case UInt8(ascii: " "), UInt8(ascii: "\n"):
                pendingSpace = true
            case UInt8(ascii: "\""):
                if pendingSpace, Self.separates(kept.last) { kept.append(UInt8(ascii: " ")) }
                pendingSpace = false
                kept.append(byte)
                while let inside = rest.popFirst() {
                    kept.append(inside)
                    if inside == byte { break }
                }
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: ">"),
                UInt8(ascii: "~"):
                if byte == UInt8(ascii: "}"), kept.last == UInt8(ascii: ";") { kept.removeLast() }
                pendingSpace = false
                kept.append(byte)
            default:
                if pendingSpace, Self.separates(kept.last) { kept.append(UInt8(ascii: " ")) }
                pendingSpace = false
                kept.append(byte)
            }
        }
        bytes = kept
    }

    private static func separates(_ byte: UInt8?) -> Bool {
        switch byte {
        case nil, UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: ","),
            UInt8(ascii: ">"), UInt8(ascii: "~"):
            false
        default: true
        }
    }

    private static func afterComment(_ rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "*"), rest.first == UInt8(ascii: "/") { return rest.dropFirst() }
        }
        return rest
    }
}
