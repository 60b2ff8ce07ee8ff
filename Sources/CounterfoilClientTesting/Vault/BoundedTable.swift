/// A dictionary of limited size; a value with a new name in a full table replaces the oldest value.
struct BoundedTable<Value: Sendable>: Sendable {
    static var limit: Int { 2000 }

    private var values: [String: Value] = [:]
    /// The names, oldest first.
    private(set) var names: [String] = []

    subscript(name: String) -> Value? {
        get { values[name] }
        set {
            guard let newValue else {
                if values.removeValue(forKey: name) != nil { names.removeAll { $0 == name } }
                return
            }
            if values.updateValue(newValue, forKey: name) == nil {
                names.append(name)
                if names.count > Self.limit { values.removeValue(forKey: names.removeFirst()) }
            }
        }
    }

    mutating func changeAll(_ change: (inout Value) -> Void) {
        for name in names {
            guard var value = values[name] else { continue }
            change(&value)
            values[name] = value
        }
    }
}
