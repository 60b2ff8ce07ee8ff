import Foundation

/// A limit on the number of tests that run programs at a time; ``shared`` allows two per processor.
///
/// Without it, all tests would start their servers at once and slow each other down.
actor Turnstile {
    static let shared = Turnstile(places: 2 * ProcessInfo.processInfo.activeProcessorCount)

    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) {
        self.places = places
    }

    /// Waits for a free place.
    func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Passes the place to the next waiting test.
    func leave() {
        guard !waiting.isEmpty else {
            places += 1
            return
        }
        waiting.removeFirst().resume()
    }
}
