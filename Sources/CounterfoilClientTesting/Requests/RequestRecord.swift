@_spi(Counterfoil) import CounterfoilProtocol
import Foundation

/// The requests that a scripted server received, in order; tests can read them or wait for them.
final class RequestRecord: Sendable {
    /// The maximum number of requests; when it is reached, the next request displaces the oldest tenth.
    static let limit = 10_000

    private struct State {
        var requests: [RecordedRequest] = []
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state = Mutex(State())

    /// The requests, oldest first.
    var requests: [RecordedRequest] { state.withLock { $0.requests } }

    /// Appends a request, and resumes the tasks that wait for requests.
    func append(_ request: RecordedRequest) {
        let watchers = state.withLock { state in
            if state.requests.count == Self.limit { state.requests.removeFirst(Self.limit / 10) }
            state.requests.append(request)
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield() }
    }

    func removeAll() { state.withLock { $0.requests.removeAll() } }

    /// Waits until the record contains at least `count` matching requests, and returns all matching requests.
    func requests(
        atLeast count: Int, where isWanted: @Sendable (RecordedRequest) -> Bool
    ) async throws -> [RecordedRequest] {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watcher = state.withLock { state in
            defer { state.nextWatcher += 1 }
            state.watchers[state.nextWatcher] = signal
            return state.nextWatcher
        }
        defer { state.withLock { _ = $0.watchers.removeValue(forKey: watcher) } }
        signal.yield()
        for await _ in signals {
            let found = requests.filter(isWanted)
            if found.count >= count { return found }
        }
        throw CancellationError()
    }
}
