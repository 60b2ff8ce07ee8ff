import Foundation

/// The cache lifetime of a response, from its `Cache-Control` fields.
///
/// RFC 9111 §5.2.2.
enum CacheLifetime {
    /// Returns `max-age` in seconds, or 0 for `no-store` or `no-cache`; nil if the fields contain none of these
    /// directives.
    static func seconds(in fields: [String]) -> TimeInterval? {
        var lifetime: TimeInterval?
        for directive in fields.flatMap({ $0.split(separator: ",") }) {
            let halves = directive.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: marks) }
            switch halves.first?.lowercased() {
            case "no-store", "no-cache":
                return 0
            case "max-age" where halves.count == 2:
                guard halves[1].utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
                    let seconds = UInt32(halves[1])
                else { continue }
                lifetime = TimeInterval(seconds)
            default:
                continue
            }
        }
        return lifetime
    }

    private static let marks = CharacterSet(charactersIn: " \t\"")
}
