/// The owner's colour, six hexadecimal digits after a `#`.
public struct AccentColor: Sendable, Hashable, CustomStringConvertible {
    /// The colour as CSS writes it, in small letters: `#2352c5`.
    public let rawValue: String

    /// A colour as written, with or without the `#`, or nil when it is none.
    public init?(_ text: String) {
        let digits = (text.hasPrefix("#") ? String(text.dropFirst()) : text).lowercased()
        guard digits.utf8.count == 6,
            digits.utf8.allSatisfy({
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            })
        else { return nil }
        rawValue = "#" + digits
    }

    /// The colour as CSS writes it.
    public var description: String { rawValue }
}
