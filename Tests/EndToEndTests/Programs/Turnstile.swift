import Foundation

/// Lets as many tests run programs at a time as twice the processors of the device, and the others wait.
///
/// Without it all tests start their servers at once, and each takes as long as all of them.
actor Turnstile {
    static let shared = Turnstile(places: 2 * ProcessInfo.processInfo.activeProcessorCount)

    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) {
        self.places = places
    }

    /// Waits for a place.
    func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Gives the place to the next.
    func leave() {
        guard !waiting.isEmpty else {
            places += 1
            return
        }
        waiting.removeFirst().resume()
    }
}
