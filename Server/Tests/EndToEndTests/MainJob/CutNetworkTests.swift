import CounterfoilClient
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// A user whose network is cut at every point of a refresh, with the released server.
@Suite(.timeLimit(.minutes(10)))
struct CutNetworkTests {
    /// A transport that cuts the connection to the token endpoint at given points.
    private final class CutTransport: HTTPTransport {
        enum Point: CaseIterable {
            case beforeConnecting
            case afterRequest
            case withinResponse
        }

        private let cuts = Mutex<[Point]>([])

        func cut(_ points: [Point]) { cuts.withLock { $0 = points } }

        func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
            let transport = AsyncHTTPClientTransport()
            guard request.method == .post else { return try await transport.send(request) }
            let origin = request.endpoint.origin
            switch cuts.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            case nil: return try await transport.send(request)
            case .beforeConnecting: throw .unreachable(origin: origin, reason: "the network is cut")
            case .afterRequest:
                _ = try await transport.send(request)
                throw .unreachable(origin: origin, reason: "the network is cut")
            case .withinResponse:
                let response = try await transport.send(request)
                let half = response.body.prefix(response.body.count / 2)
                return TransportResponse(head: response.head, body: Array(half))
            }
        }
    }

    @Test func `a cut network at any point of a refresh ends no session`() async throws {
        try await Site.make { site in
            try await site.add(.alice)
            try await site.addScope("photos.read", "See your photos and albums")
            let clientID = try await site.registerClient(options: ["--refresh-tokens", "always"])
            try await site.serving {
                let device = try Device(in: site.folder)
                #expect(try await device.signIn(.alice, at: site, clientID: clientID).status == 0)
                let store = EncryptedFileTokenStore(file: device.tokenFile)
                let transport = CutTransport()
                var random = SeededGenerator.ofThisRun()
                for round in 0..<200 {
                    let stale = try #require(try await store.credentials(of: .standard)).accessToken
                    // At most two cuts are healed within one refresh. The server throttles a client that retries the
                    // same refresh more than five times.
                    transport.cut(
                        (0..<Int.random(in: 0...2, using: &random)).map { _ in
                            CutTransport.Point.allCases.randomElement(using: &random) ?? .afterRequest
                        })
                    let session = TokenSession(ofAnyClientIn: store, transport: transport)
                    let fresh = try await session.refreshed(replacing: stale)
                    try #require(fresh.accessToken != stale, "round \(round)")
                    try #require(try await store.credentials(of: .standard) == fresh, "round \(round)")
                }
            }
        }
    }
}
