import CounterfoilServer
import Synchronization

/// Values of texts that stand in many rows alike, as scopes and indicators of APIs do: each is taken apart once.
final class KnownTexts<Value: Sendable>: Sendable {
    /// How many are known at most, and how many bytes one has at most.
    private static var capacity: Int { 1000 }
    private static var longest: Int { 1024 }

    private let values = Mutex<[String: Value]>([:])

    /// What a text says: as it is known, or as `parse` finds it.
    func value(of text: String, orParse parse: (String) throws(StoreFault) -> Value) throws(StoreFault) -> Value {
        if let known = values.withLock({ $0[text] }) { return known }
        let value = try parse(text)
        guard text.utf8.count <= Self.longest else { return value }
        values.withLock { values in
            if values.count >= Self.capacity { values.removeAll() }
            values[text] = value
        }
        return value
    }
}
