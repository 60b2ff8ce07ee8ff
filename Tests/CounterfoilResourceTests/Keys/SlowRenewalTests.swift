@_spi(Counterfoil) import CounterfoilProtocol
@_spi(Counterfoil) import CounterfoilResource
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

@Suite struct SlowRenewalTests {
    /// An issuer that responds once, and then blocks.
    private final class SlowSource: KeySetSource {
        private let keys: JSONWebKeySet
        private let isFirst = Mutex(true)
        private let gate = AsyncStream<Void>.makeStream()
        let asked = AsyncStream<Void>.makeStream()

        init(keys: JSONWebKeySet) {
            self.keys = keys
        }

        func fetch() async throws -> FetchedKeySet {
            let waits = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return !isFirst
            }
            if waits {
                asked.continuation.yield()
                for await _ in gate.stream { break }
            }
            return FetchedKeySet(keys: keys)
        }

        func answer() { gate.continuation.yield() }
    }

    // A slow issuer delays only the request that renews stale keys.
    @Test func `stale keys stay in use while they are being renewed`() async throws {
        let key = try SigningKey.generate(.es256)
        let issuer = try Issuer("https://id.example.com")
        let source = SlowSource(keys: JSONWebKeySet(keys: [key.publicKey]))
        let clock = TestClock()
        let server = ResourceServer(
            issuer: issuer, audience: Authority.audience, keys: KeySetCache(source: source), now: { clock.now })
        let token = try key.sign(
            AccessTokenClaims(
                issuer: issuer, subject: "anna", audience: [Authority.audience],
                clientID: try #require(ClientIdentifier("lightbox")), expires: Authority.now.addingTimeInterval(3600),
                issuedAt: Authority.now, tokenID: "t-1"))
        let request = HTTPRequest.get(authorization: "Bearer \(token)")
        _ = try await server.access(for: request)

        clock.advance(by: 600)
        async let renewing = server.access(for: request)
        for await _ in source.asked.stream { break }
        for _ in 0..<10 {
            _ = try await server.access(for: request)
        }
        source.answer()
        #expect(try await renewing.subject == "anna")
    }
}
