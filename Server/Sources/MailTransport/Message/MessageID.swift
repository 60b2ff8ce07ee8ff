/// The identifier of a message, by which a mail that arrives a second time is recognized (RFC 5322 §3.6.4).
package struct MessageID: Sendable, Hashable, CustomStringConvertible {
    package let rawValue: String

    /// Creates an identifier from a unique name of letters and digits and the domain of its sender; nil if malformed.
    package init?(_ name: String, at sender: MailAddress) {
        guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(Self.isLetterOrDigit),
            let domain = sender.rawValue.split(separator: "@").last
        else { return nil }
        self.name = name
        rawValue = "<\(name)@\(domain)>"
    }

    /// The unique name.
    let name: String

    package var description: String { rawValue }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
