import Synchronization

/// The requests that are being answered at this moment, on all connections.
public final class RequestsInProgress: Sendable {
    /// After how many requests that met no other it is taken that they come one by one.
    private static let patience = 16

    private let number = Atomic<Int>(0)
    private let loneInARow = Atomic<Int>(0)

    /// Begins to count.
    public init() {}

    /// Whether requests come one by one: there is one at most now, and the last ones met no other.
    public var comeOneByOne: Bool {
        number.load(ordering: .relaxed) <= 1 && loneInARow.load(ordering: .relaxed) >= Self.patience
    }

    func begin() {
        if number.add(1, ordering: .relaxed).oldValue == 0 {
            loneInARow.add(1, ordering: .relaxed)
        } else {
            loneInARow.store(0, ordering: .relaxed)
        }
    }

    func end() { number.subtract(1, ordering: .relaxed) }
}
