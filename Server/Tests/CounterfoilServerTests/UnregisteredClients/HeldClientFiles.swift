import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore

/// Files of clients whose hosts answer only when a test says so.
///
/// A URL that the test does not hold is answered at once, with its document.
actor HeldClientFiles: ClientFileFetcher {
    private let isHeld: @Sendable (String) -> Bool
    private(set) var requests: [String] = []
    private var held: [(url: String, answer: CheckedContinuation<Void, Never>)] = []
    private var observers: [(count: Int, seen: CheckedContinuation<Void, Never>)] = []

    init(holding isHeld: @escaping @Sendable (String) -> Bool = { _ in true }) { self.isHeld = isHeld }

    func fetch(_ request: ClientFileRequest, for context: RequestContext?) async -> ClientFileFetch {
        let url = request.url.rawValue
        requests.append(url)
        if isHeld(url) {
            await withCheckedContinuation { answer in
                held.append((url, answer))
                for observer in observers where held.count >= observer.count { observer.seen.resume() }
                observers.removeAll { held.count >= $0.count }
            }
        }
        return .json(DocumentWorld.document(at: url))
    }

    /// Waits until a number of requests wait for their answer.
    func waitForHeld(_ count: Int) async {
        guard held.count < count else { return }
        await withCheckedContinuation { observers.append((count, $0)) }
    }

    /// Answers the waiting requests for a URL, or all of them.
    func answer(_ url: String? = nil) {
        for request in held where url == nil || request.url == url { request.answer.resume() }
        held.removeAll { url == nil || $0.url == url }
    }
}
