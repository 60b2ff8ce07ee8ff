import CounterfoilClient
import CounterfoilProtocol
import HTTPTypes
import Synchronization

/// A browser in the person's place: it opens the address, and follows the answer to the device over real connections.
final class ScriptedBrowser: BrowserLauncher {
    private let transport: any HTTPTransport
    private let before: @Sendable (_ callback: String) async throws -> Void
    private let visits = Mutex<[Task<TransportResponse?, any Error>]>([])

    /// A browser that does something before it follows the answer.
    init(
        over transport: any HTTPTransport = AsyncHTTPClientTransport(),
        beforeCallback: @escaping @Sendable (_ callback: String) async throws -> Void = { _ in }
    ) {
        self.transport = transport
        before = beforeCallback
    }

    /// The pages that the device answered with, as soon as they are there.
    func pages() async throws -> [TransportResponse] {
        var pages: [TransportResponse] = []
        for visit in visits.withLock({ $0 }) {
            if let page = try await visit.value { pages.append(page) }
        }
        return pages
    }

    func open(_ url: BrowserURL) async -> BrowserLaunch {
        // Like a browser of its own, it goes on when nobody waits for it any more.
        let visit = Task { [before, transport] () async throws -> TransportResponse? in
            let answer = try await transport.send(TransportRequest(EndpointURL(url.rawValue)))
            guard let location = answer.head.headerFields[.location] else { return nil }
            try await before(location)
            return try await transport.send(TransportRequest(EndpointURL(location)))
        }
        visits.withLock { $0.append(visit) }
        do {
            _ = try await visit.value
            return .launched
        } catch {
            return .failed("\(error)")
        }
    }
}
