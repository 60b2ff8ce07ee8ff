import CounterfoilServer
import Synchronization

/// A cache of parsed texts that occur in many rows, such as scopes and resource indicators.
///
/// An entry is never stale, because a value depends on its text alone.
final class ParseCache<Value: Sendable>: Sendable {
    /// The most cached texts, at which the cache is cleared, and the most bytes of one text.
    private static var capacity: Int { 1000 }
    private static var longest: Int { 1024 }

    private let values = Mutex<[String: Value]>([:])

    /// Returns the cached value of a text, or parses and caches it.
    func value(of text: String, orParse parse: (String) throws(StoreFault) -> Value) throws(StoreFault) -> Value {
        if let cached = values.withLock({ $0[text] }) { return cached }
        let value = try parse(text)
        guard text.utf8.count <= Self.longest else { return value }
        values.withLock { values in
            if values.count >= Self.capacity { values.removeAll() }
            values[text] = value
        }
        return value
    }
}
