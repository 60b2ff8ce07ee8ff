/// A source of cryptographically secure random bytes.
public struct RandomBytes: Sendable {
    private let source: @Sendable (Int) -> [UInt8]

    /// Creates a source that uses the random number generator of the operating system.
    public init() {
        source = { count in
            var generator = SystemRandomNumberGenerator()
            var bytes: [UInt8] = []
            bytes.reserveCapacity(count + 7)
            while bytes.count < count {
                withUnsafeBytes(of: generator.next() as UInt64) { bytes.append(contentsOf: $0) }
            }
            return Array(bytes.prefix(count))
        }
    }

    /// Creates a source with predictable bytes, for tests.
    @_spi(Counterfoil) public init(_ source: @escaping @Sendable (Int) -> [UInt8]) {
        self.source = source
    }

    /// Returns `count` random bytes, new ones on each call.
    public func bytes(_ count: Int) -> [UInt8] { source(count) }
}
