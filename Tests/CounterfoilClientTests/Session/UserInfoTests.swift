import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import HTTPTypes
import Testing

@testable import CounterfoilClient

/// Tests of UserInfo requests in a session.
@Suite(.timeLimit(.minutes(2)))
struct UserInfoTests {
    /// A transport that runs a closure during the first UserInfo request, and then refuses that request.
    private final class RefusingTransport: HTTPTransport {
        private let happens: @Sendable () async throws -> Void
        private let refused = Mutex(false)

        init(after happens: @escaping @Sendable () async throws -> Void) { self.happens = happens }

        func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse {
            let isFirst =
                request.endpoint.uri.path == "/oauth2/userinfo"
                && refused.withLock { refused in
                    defer { refused = true }
                    return !refused
                }
            guard isFirst else { return try await StandardTransport().send(request) }
            do { try await happens() } catch { throw .unreachable(origin: "test", reason: "\(error)") }
            let challenge = HTTPField(name: .wwwAuthenticate, value: "Bearer error=\"invalid_token\"")
            return TransportResponse(
                head: HTTPResponse(status: .unauthorized, headerFields: HTTPFields([challenge])), body: [])
        }
    }

    // OpenID Connect Core §5.3.2
    @Test func `a user who signs in during the call is not answered for the former user`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            try await SignedIn.at(server, scope: "openid", in: store)
            let transport = RefusingTransport {
                server.change { $0.idToken.replaced = [WireMember("sub", "bob")] }
                try await SignedIn.at(server, scope: "openid", in: store)
            }
            let session = TokenSession(ofAnyClientIn: store)
            await #expect(throws: SignInError.unsafe(.userInfo(.otherUser))) {
                try await UserInfoRequest(transport: transport).claims(in: session)
            }
        }
    }

    @Test func `a token that the server has forgotten is refreshed once`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            try await SignedIn.at(server, scope: "openid", in: store)
            let session = TokenSession(ofAnyClientIn: store)
            let claims = try await UserInfoRequest(transport: RefusingTransport {}).claims(in: session)
            #expect(claims?.subject == "alice")
            #expect(SignedIn.refreshes(at: server).count == 1)
        }
    }
}
