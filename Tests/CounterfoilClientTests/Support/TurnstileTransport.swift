import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol

/// A transport that delays the requests to one URL until a test releases them.
final class TurnstileTransport: HTTPTransport {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let address: String
    private let state = Mutex(State())

    /// Creates a transport that delays the requests to a URL.
    init(holding address: String) { self.address = address }

    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
        if request.endpoint.rawValue == address { await pass() }
        return try await StandardTransport().send(request)
    }

    /// Returns as soon as this number of requests has arrived, whether they are waiting or released.
    func arrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrivals < count { state.watchers.append((count, continuation)) }
                return state.arrivals >= count
            }
            if isThere { continuation.resume() }
        }
    }

    /// Releases the waiting requests and all later ones.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func pass() async {
        await withCheckedContinuation { continuation in
            let (goes, told) = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.waiting.append(continuation) }
                let told = state.watchers.filter { $0.count <= state.arrivals }
                state.watchers.removeAll { $0.count <= state.arrivals }
                return (state.isOpen, told)
            }
            for watcher in told { watcher.continuation.resume() }
            if goes { continuation.resume() }
        }
    }
}
