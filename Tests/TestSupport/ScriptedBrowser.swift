package import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol
import HTTPTypes

/// A browser without a user: it opens the URL and follows the redirect to the device over real connections.
package final class ScriptedBrowser: BrowserLauncher {
    private let transport: any HTTPTransport
    private let before: @Sendable (_ callback: String) async throws -> Void
    private let visits = Mutex<[Task<TransportResponse?, any Error>]>([])

    /// Creates a browser that runs a closure before it follows the redirect.
    package init(
        over transport: any HTTPTransport = .standard,
        beforeCallback: @escaping @Sendable (_ callback: String) async throws -> Void = { _ in }
    ) {
        self.transport = transport
        before = beforeCallback
    }

    /// Waits for the pages with which the device responded.
    package func pages() async throws -> [TransportResponse] {
        var pages: [TransportResponse] = []
        for visit in visits.withLock({ $0 }) {
            if let page = try await visit.value { pages.append(page) }
        }
        return pages
    }

    package func open(_ url: BrowserURL) async -> BrowserLaunch {
        // Like a real browser, the visit continues when the waiting task is cancelled.
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
