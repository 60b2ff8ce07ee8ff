import Synchronization

/// The count of requests that are being answered, on all connections.
public final class RequestsInProgress: Sendable {
    /// The number of consecutive requests without overlap after which requests count as sequential.
    private static let patience = 16

    private let number = Atomic<Int>(0)
    private let loneInARow = Atomic<Int>(0)

    /// Creates a count of zero.
    public init() {}

    /// Whether requests are sequential: at most one is in progress, and the last ones did not overlap.
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
