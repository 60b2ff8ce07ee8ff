/// The parts of a `User-Agent` field (RFC 9110 §10.1.5): products with or without a version, and the words of comments.
///
/// It is what a stranger says of itself: good for a hint, never for a decision about safety. Only the first
/// ``byteLimit`` bytes are read.
struct UserAgent {
    /// The most bytes that are looked at; real fields of the wordiest applications have about 600.
    static let byteLimit = 1024

    /// The words in order, each up to its version: `Firefox` of `Firefox/144.0`.
    let words: [Substring]

    private let known: Set<Substring>

    /// Splits a field; an absent one has no words.
    init(_ field: String) {
        let visible = field.utf8.prefix(Self.byteLimit).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: " ") }
        let text = String(decoding: visible, as: UTF8.self)
        words = text.split { " ;,()[]".contains($0) }.map { $0.prefix { $0 != "/" } }.filter { !$0.isEmpty }
        known = Set(words)
    }

    /// Whether one of the words is there, in the same letters.
    func says(_ words: String...) -> Bool { says(anyOf: words) }

    /// Whether one of the words is there, in the same letters.
    func says(anyOf words: some Sequence<String>) -> Bool { words.contains { known.contains($0[...]) } }

    /// The major version of iOS or iPadOS: 17 of `CPU iPhone OS 17_4 like Mac OS X`.
    var appleMobileVersion: Int? {
        guard says("iPhone", "iPad", "iPod"), let system = words.firstIndex(of: "OS"),
            let version = words[system...].dropFirst().first
        else { return nil }
        return Int(version.prefix { $0 != "_" })
    }
}
