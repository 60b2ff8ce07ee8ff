/// A language in which the server has texts; the raw value is its tag (BCP 47).
public enum Language: String, CaseIterable, Sendable {
    /// English, which replaces missing texts of every other language.
    case english = "en"
    /// German; dates are formatted as in Germany.
    case german = "de"
    /// Norwegian Bokmål, which is also chosen for the tags `no` (Norwegian) and `nn` (Nynorsk).
    case norwegian = "nb"
    /// French, in which a count of 0 takes the singular.
    case french = "fr"
    /// Spanish; dates are formatted as in Spain.
    case spanish = "es"

    /// The language of a response if the request names no supported language: English.
    public static let standard = english

    /// The name of the language in that language, for a list of languages: `Deutsch` for German.
    public var ownName: String {
        switch self {
        case .english: "English"
        case .german: "Deutsch"
        case .norwegian: "Norsk bokmål"
        case .french: "Français"
        case .spanish: "Español"
        }
    }

    /// Finds the language of a tag (BCP 47) by its primary subtag; nil if the server has no texts in it.
    package init?(tag: some StringProtocol) {
        let primary = tag.prefix { $0 != "-" }.lowercased()
        switch primary {
        // Norwegian (`no`) and Nynorsk (`nn`) are mapped to Bokmål.
        case "no", "nn": self = .norwegian
        default: self.init(rawValue: primary)
        }
    }

    /// Chooses the language of a response from `ui_locales`, or else from `Accept-Language`, or else English.
    ///
    /// - Parameters:
    ///   - uiLocales: The parameter `ui_locales`, language tags separated by spaces (OpenID Connect Core §3.1.2.1).
    ///     The first supported language is chosen.
    ///   - acceptLanguage: The field `Accept-Language`, language ranges with weights (RFC 9110 §12.5.4). The
    ///     supported language with the highest weight is chosen. Malformed entries are ignored.
    public static func negotiate(uiLocales: String?, acceptLanguage: String?) -> Language {
        asked(by: uiLocales ?? "") ?? preferred(by: acceptLanguage ?? "") ?? .english
    }

    /// The maximum number of bytes that the server reads of `ui_locales` and of `Accept-Language` each.
    private static let byteLimit = 1024
    /// The maximum number of entries that the server reads of `ui_locales` and of `Accept-Language` each.
    private static let entryLimit = 32

    private static func asked(by uiLocales: String) -> Language? {
        uiLocales.utf8.prefix(byteLimit).split(separator: UInt8(ascii: " ")).prefix(entryLimit)
            .lazy.compactMap { Language(tag: String(decoding: $0, as: UTF8.self)) }.first
    }

    private static func preferred(by acceptLanguage: String) -> Language? {
        let ranges = acceptLanguage.utf8.prefix(byteLimit).split(separator: UInt8(ascii: ",")).prefix(entryLimit)
            .compactMap { WeightedRange(String(decoding: $0, as: UTF8.self)) }
        var best: (language: Language, weight: Int)?
        for range in ranges where range.weight > (best?.weight ?? 0) {
            guard range.tag == "*" else {
                if let language = Language(tag: range.tag) { best = (language, range.weight) }
                continue
            }
            // RFC 4647 §3.3.1: the range `*` stands for every language that no other entry names.
            let named = Set(ranges.compactMap { Language(tag: $0.tag) })
            if let language = allCases.first(where: { !named.contains($0) }) { best = (language, range.weight) }
        }
        return best?.language
    }

    /// An entry of `Accept-Language`, with its weight in thousandths (RFC 9110 §12.4.2).
    private struct WeightedRange {
        let tag: String
        let weight: Int

        init?(_ text: String) {
            let parts = text.split(separator: ";", omittingEmptySubsequences: false)
                .map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let tag = parts.first, !tag.isEmpty, parts.count <= 2 else { return nil }
            self.tag = tag
            guard parts.count == 2 else {
                weight = 1000
                return
            }
            guard parts[1].lowercased().hasPrefix("q="), let weight = Self.thousandths(parts[1].dropFirst(2)) else {
                return nil
            }
            self.weight = weight
        }

        private static func thousandths(_ text: Substring) -> Int? {
            let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard let whole = halves.first, whole == "0" || whole == "1" else { return nil }
            let digits = halves.count == 2 ? halves[1] : ""
            guard digits.utf8.count <= 3, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let thousandths = Int(digits + String(repeating: "0", count: 3 - digits.utf8.count))
            else { return nil }
            guard whole == "1" else { return thousandths }
            return thousandths == 0 ? 1000 : nil
        }
    }
}
