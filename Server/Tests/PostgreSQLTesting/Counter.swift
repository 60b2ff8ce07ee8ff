@_spi(Counterfoil) import CounterfoilProtocol

/// A number that counts calls from any thread.
package final class Counter: Sendable {
    private let count = Mutex(0)

    package init() {}

    package var value: Int { count.withLock { $0 } }

    /// Counts a call and returns its number, from 1.
    @discardableResult
    package func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
