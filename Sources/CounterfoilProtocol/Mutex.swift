#if canImport(Darwin)
    import os
#else
    public import Synchronization
#endif

/// A lock with the value that it protects, with the interface of `Synchronization.Mutex`.
///
/// That type requires iOS 18 and macOS 15.
@_spi(Counterfoil) public struct Mutex<Value>: ~Copyable, Sendable {
    #if canImport(Darwin)
        private let lock: OSAllocatedUnfairLock<Value>

        /// Creates a mutex that protects a value.
        public init(_ value: consuming sending Value) { lock = OSAllocatedUnfairLock(uncheckedState: value) }

        /// Calls a function with the value, which no other thread can access meanwhile.
        public borrowing func withLock<Success, Failure: Error>(
            _ body: (inout Value) throws(Failure) -> Success
        ) throws(Failure) -> Success {
            try lock.withLockUnchecked { value in
                Result { () throws(Failure) in try body(&value) }
            }.get()
        }
    #else
        @usableFromInline let lock: Synchronization.Mutex<Value>

        /// Creates a mutex that protects a value.
        @inlinable
        public init(_ value: consuming sending Value) { lock = Synchronization.Mutex(value) }

        /// Calls a function with the value, which no other thread can access meanwhile.
        @inlinable
        public borrowing func withLock<Success, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Success
        ) throws(Failure) -> sending Success {
            try lock.withLock(body)
        }
    #endif
}
