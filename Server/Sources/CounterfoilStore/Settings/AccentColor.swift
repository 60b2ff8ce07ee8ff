/// A colour in sRGB, such as the accent colour that the owner has chosen for the pages.
public struct AccentColor: Sendable, Hashable, CustomStringConvertible {
    /// The colour in CSS notation, in lower case: `#2352c5`.
    public let rawValue: String

    /// Parses a colour of six hexadecimal digits, with or without `#`; nil if the text has another form.
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

    package init(channels: (red: UInt8, green: UInt8, blue: UInt8)) {
        let number = UInt32(channels.red) << 16 | UInt32(channels.green) << 8 | UInt32(channels.blue)
        let digits = String(number, radix: 16)
        rawValue = "#" + String(repeating: "0", count: 6 - digits.count) + digits
    }

    package var channels: (red: UInt8, green: UInt8, blue: UInt8) {
        let number = UInt32(rawValue.dropFirst(), radix: 16) ?? 0
        return (UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255))
    }

    /// The colour in CSS notation, as ``rawValue``.
    public var description: String { rawValue }
}
