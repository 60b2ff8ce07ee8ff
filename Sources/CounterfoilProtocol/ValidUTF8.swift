extension String {
    /// Creates a string from bytes; returns nil if they are not UTF-8.
    ///
    /// `String(validating:as:)` requires iOS 18 and macOS 15.
    @inlinable
    @_spi(Counterfoil) public init?(validUTF8 bytes: some Collection<UInt8>) {
        #if canImport(Darwin)
            self.init(decoding: bytes, as: UTF8.self)
            // The decoder replaces invalid sequences, so the text then has other bytes.
            guard utf8.elementsEqual(bytes) else { return nil }
        #else
            self.init(validating: bytes, as: UTF8.self)
        #endif
    }
}
