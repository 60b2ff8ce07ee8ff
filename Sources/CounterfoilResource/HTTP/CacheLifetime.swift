import Foundation

/// How long an answer may be kept, by its `Cache-Control`.
///
/// RFC 9111 §5.2.2.
enum CacheLifetime {
    /// Seconds, 0 for `no-store` and `no-cache`, or nil when the fields say nothing that counts here.
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
