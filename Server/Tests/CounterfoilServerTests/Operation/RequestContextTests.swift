@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The context of a request, and what is bound to it.
struct RequestContextTests {
    private let store = TestStore()

    /// A span that keeps the names of the spans in it.
    private final class RecordedSpan: TraceSpan {
        private let state = Mutex<[String]>([])

        let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
        var children: [String] { state.withLock { $0 } }

        func child(_ start: SpanStart) -> any TraceSpan {
            state.withLock { $0.append(start.name) }
            return RecordedSpan()
        }

        func note(_ attribute: TraceAttribute) {}
        func end(isError: Bool) {}
    }

    @Test func `a lookup at the arrival of a request sees no later change, and a fresh one does`() async throws {
        let test = try await TestServer(store: store)
        let request = RequestContext(id: "request", source: "192.0.2.1")
        request.noteArrival(at: try await store.registryRevision())
        let registry = CachedRegistry(store).serving(request)
        let reads = store.calls(of: .registryRevision)
        for _ in 1...2 { #expect(try await registry.atArrival().client(test.lightbox.id) == test.lightbox) }
        #expect(try await store.removeClient(test.lightbox.id))
        #expect(try await registry.atArrival().client(test.lightbox.id) == test.lightbox)
        #expect(store.calls(of: .registryRevision) == reads)
        #expect(try await registry.fresh().client(test.lightbox.id) == nil)
        #expect(store.calls(of: .registryRevision) == reads + 1)
    }

    @Test func `after the wait for another host, a lookup at the arrival reads the revision again`() async throws {
        let test = try await TestServer(store: store)
        let request = RequestContext(id: "request", source: "192.0.2.1")
        request.noteArrival(at: try await store.registryRevision())
        let registry = CachedRegistry(store).serving(request)
        #expect(try await registry.atArrival().client(test.lightbox.id) == test.lightbox)
        #expect(try await store.removeClient(test.lightbox.id))
        request.noteWait()
        #expect(try await registry.atArrival().client(test.lightbox.id) == nil)
    }

    @Test func `a service looks everything up at the revision of now`() async throws {
        let test = try await TestServer(store: store)
        let registry = CachedRegistry(store)
        #expect(try await registry.atArrival().client(test.lightbox.id) == test.lightbox)
        #expect(try await store.removeClient(test.lightbox.id))
        #expect(try await registry.atArrival().client(test.lightbox.id) == nil)
    }

    // An operation without a request would have no deadline, and would be missing in the trace.
    @Test func `every operation of the store that a request causes is bound to the request`() async throws {
        let test = try await TestServer(store: store)
        let api = try await test.addAPI()
        let service = try await test.addService()
        let stayed = try await RefreshTokenGrantTests.Stayed(test)
        let attempt = Attempt(test, for: "openid photos.read").with("resource", "https://photos.example.com")
        let outside = store.callsOutsideOfRequests
        let before = store.calls

        var browser = test.browser()
        let code = try await attempt.authorize(with: &browser).code
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        #expect(try await api.sees(tokens.accessToken.exposed))
        #expect(await test.redeem(attempt.exchange(code)).status == .badRequest)
        _ = try await service.token()
        _ = try await stayed.refresh()
        _ = await test.send(.get, to: .userInfo, fields: [.authorization: "Bearer \(tokens.accessToken.exposed)"])
        for page in ["/account", "/account/sessions", "/apps", "/apps/new", "/admin", "/sign-in"] {
            _ = try await browser.open(page)
        }
        for endpoint in Endpoint.protocolEndpoints {
            for method in endpoint.methods + [.options] {
                _ = await test.send(
                    method, to: endpoint, query: "client_id=app_lightbox&response_type=code",
                    fields: [
                        .contentType: "application/x-www-form-urlencoded", .origin: "https://stranger.example",
                        .accessControlRequestMethod: "POST",
                    ],
                    body: Array("client_id=app_lightbox&grant_type=client_credentials".utf8))
            }
        }
        for operation: StoreOperation in [.code, .registryRevision, .appendAudit, .isRegistered] {
            #expect(store.calls(of: operation) > before[operation] ?? 0, "\(operation)")
        }
        #expect(store.callsOutsideOfRequests == outside)
    }

    @Test func `the spans and the log lines of a sampled request belong to its trace`() async throws {
        let test = try await TestServer(store: store)
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        func answer(in span: RecordedSpan?) async -> (status: HTTPResponse.Status, lines: ArraySlice<String>) {
            var request = IncomingRequest(
                head: HTTPRequest(
                    method: .post, scheme: nil, authority: nil, path: "/oauth2/token",
                    headerFields: [.contentType: "application/x-www-form-urlencoded"]),
                body: Array(form.encoded.utf8), source: "192.0.2.1", id: "request")
            request.context.span = span
            let former = test.log.lines.count
            let status = await test.server.respond(to: request, at: .token).status
            test.server.noteAnswer(to: request, at: .token, status: status, after: .zero)
            return (status, test.log.lines.dropFirst(former))
        }
        let span = RecordedSpan()
        #expect(await answer(in: span).status == .ok)
        #expect(
            Set(["read registryRevision", "read code", "commit consumeCode", "sign token"]).isSubset(of: span.children))
        // The code is used now, so the second request is refused.
        let refused = await answer(in: RecordedSpan())
        #expect(refused.status == .badRequest)
        #expect(refused.lines.count > 1)
        #expect(refused.lines.allSatisfy { $0.contains(#""trace_id": \#(span.traceID)"#) }, "\(refused.lines)")
        #expect(await answer(in: nil).lines.allSatisfy { !$0.contains("trace_id") })
    }
}
