/// The distribution of values, such as durations in seconds.
package struct Histogram: Sendable, Hashable {
    /// The upper bounds of the buckets, ascending; a last bucket without a bound follows.
    package let bounds: [Double]
    /// The number of values in each bucket, not cumulative.
    package private(set) var counts: [Int]
    /// The sum of all values.
    package private(set) var sum = 0.0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = [Int](repeating: 0, count: bounds.count + 1)
    }

    /// The number of all values.
    package var count: Int { counts.reduce(0, +) }

    package mutating func note(_ value: Double) {
        var bucket = 0
        while bucket < bounds.count, value > bounds[bucket] { bucket += 1 }
        counts[bucket] += 1
        sum += value
    }
}
