import Foundation

/// A random number generator that repeats its values for the same seed, so a failure can be reproduced
/// (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SeededGenerator {
    private static let seedOfThisRun: UInt64 = {
        let name = "COUNTERFOIL_TEST_SEED"
        if let seed = ProcessInfo.processInfo.environment[name].flatMap(UInt64.init) { return seed }
        let seed = UInt64.random(in: .min ... .max)
        print("\(name)=\(seed)")
        return seed
    }()

    /// Creates a generator with the seed of this run of the tests, which is printed.
    ///
    /// The environment variable `COUNTERFOIL_TEST_SEED` repeats an earlier run.
    package static func ofThisRun() -> SeededGenerator { SeededGenerator(seed: seedOfThisRun) }
}
