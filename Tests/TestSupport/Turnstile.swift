/// A limit on how many tests do something expensive at a time.
package actor Turnstile {
    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(places: Int) {
        self.places = places
    }

    /// Waits for a free place and runs `body`.
    package nonisolated func pass<Result>(_ body: () async throws -> Result) async throws -> Result {
        await enter()
        do {
            let result = try await body()
            await leave()
            return result
        } catch {
            await leave()
            throw error
        }
    }

    /// Waits for a free place.
    package func enter() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Passes the place to the next waiting test.
    package func leave() {
        guard !waiting.isEmpty else {
            places += 1
            return
        }
        waiting.removeFirst().resume()
    }
}
