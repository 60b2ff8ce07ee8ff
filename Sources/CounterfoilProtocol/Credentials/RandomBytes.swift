/// Random bytes of the system's cryptographically secure generator.
public struct RandomBytes: Sendable {
    private let source: @Sendable (Int) -> [UInt8]

    /// The system's generator.
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

    /// Bytes of another source, for tests that need to know them.
    package init(_ source: @escaping @Sendable (Int) -> [UInt8]) {
        self.source = source
    }

    /// The next bytes.
    public func bytes(_ count: Int) -> [UInt8] { source(count) }
}
