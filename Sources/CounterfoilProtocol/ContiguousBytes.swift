public import CounterfoilPlatform

extension ContiguousBytes {
    /// The bytes as an array.
    ///
    /// The buffer is copied in one step. This is faster than iterating over a digest or a message
    /// authentication code, which yields one byte at a time.
    @_spi(Counterfoil) public var copiedBytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
