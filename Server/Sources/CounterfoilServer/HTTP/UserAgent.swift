/// The words of a `User-Agent` field (RFC 9110 §10.1.5): product names and the words in comments.
///
/// A client can send any value, so the words are only a hint and must not decide about security. Only the
/// first ``byteLimit`` bytes of the field are read.
struct UserAgent {
    /// The maximum number of bytes of the field that are read; the longest fields of real apps have about 600 bytes.
    static let byteLimit = 1024

    /// The words in the order of the field, without versions: `Firefox` for `Firefox/144.0`.
    let words: [Substring]

    private let known: Set<Substring>

    /// Parses the value of a field; an empty value has no words.
    init(_ field: String) {
        let visible = field.utf8.prefix(Self.byteLimit).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: " ") }
        let text = String(decoding: visible, as: UTF8.self)
        words = text.split { " ;,()[]".contains($0) }.map { $0.prefix { $0 != "/" } }.filter { !$0.isEmpty }
        known = Set(words)
    }

    /// Returns true if the field contains at least one of the words, compared case-sensitively.
    func says(_ words: String...) -> Bool { says(anyOf: words) }

    /// Returns true if the field contains at least one of the words, compared case-sensitively.
    func says(anyOf words: some Sequence<String>) -> Bool { words.contains { known.contains($0[...]) } }

    /// The major version of iOS or iPadOS, 17 for `CPU iPhone OS 17_4 like Mac OS X`; nil for other systems.
    var appleMobileVersion: Int? {
        guard says("iPhone", "iPad", "iPod"), let system = words.firstIndex(of: "OS"),
            let version = words[system...].dropFirst().first
        else { return nil }
        return Int(version.prefix { $0 != "_" })
    }
}
