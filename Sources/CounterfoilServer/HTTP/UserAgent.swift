/// The words of a `User-Agent` field (RFC 9110 §10.1.5): product names and the words of comments.
///
/// The client can send any value, so use it as a hint and never for a security decision. Only the first
/// ``byteLimit`` bytes are read.
struct UserAgent {
    /// The maximum number of bytes that are read; the longest fields of real apps have about 600.
    static let byteLimit = 1024

    /// The words in order, without versions: `Firefox` for `Firefox/144.0`.
    let words: [Substring]

    private let known: Set<Substring>

    /// Parses a field; an empty one has no words.
    init(_ field: String) {
        let visible = field.utf8.prefix(Self.byteLimit).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: " ") }
        let text = String(decoding: visible, as: UTF8.self)
        words = text.split { " ;,()[]".contains($0) }.map { $0.prefix { $0 != "/" } }.filter { !$0.isEmpty }
        known = Set(words)
    }

    /// Returns whether the field contains one of the words; case matters.
    func says(_ words: String...) -> Bool { says(anyOf: words) }

    /// Returns whether the field contains one of the words; case matters.
    func says(anyOf words: some Sequence<String>) -> Bool { words.contains { known.contains($0[...]) } }

    /// The major version of iOS or iPadOS: 17 for `CPU iPhone OS 17_4 like Mac OS X`.
    var appleMobileVersion: Int? {
        guard says("iPhone", "iPad", "iPod"), let system = words.firstIndex(of: "OS"),
            let version = words[system...].dropFirst().first
        else { return nil }
        return Int(version.prefix { $0 != "_" })
    }
}
