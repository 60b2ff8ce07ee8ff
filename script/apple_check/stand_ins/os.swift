// The lock of the module os, for values of any type.

@available(macOS 13.0, iOS 16.0, *)
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    public init(uncheckedState initialState: State) {}
    public init(initialState: State) where State: Sendable {}
    public func withLockUnchecked<R>(_ body: (inout State) throws -> R) rethrows -> R {
        var state: State { preconditionFailure() }
        var copy = state
        return try body(&copy)
    }
    public func withLock<R: Sendable>(_ body: @Sendable (inout State) throws -> R) rethrows -> R {
        var state: State { preconditionFailure() }
        var copy = state
        return try body(&copy)
    }
}
