public import Foundation

/// The clock by which the records of a store are judged.
///
/// Every process that uses the store compares the stored times with this clock, and takes the times that it stores
/// from it. The clock of a machine can be wrong or be set, and machines differ. With one clock, none of that changes
/// what has expired. Times in tokens come from the wall clock instead, because recipients compare them with their own.
public protocol StoreClock: Sendable {
    /// Returns the current time by the clock of the store, without waiting for the store.
    func now() -> Date
}
