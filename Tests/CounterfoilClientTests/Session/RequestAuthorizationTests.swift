import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of requests that a program sends with its own HTTP client.
@Suite(.timeLimit(.minutes(2)))
struct RequestAuthorizationTests {
    /// Sends a request as another HTTP client would.
    private static func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        return try await StandardTransport().send(
            TransportRequest(EndpointURL(url), method: request.method, headerFields: request.headerFields)
        ).head
    }

    private static func request(_ url: String, method: HTTPRequest.Method = .get) throws -> HTTPRequest {
        let uri = try EndpointURL(url).uri
        let port = uri.port.map { ":\($0)" } ?? ""
        return HTTPRequest(
            method: method, scheme: uri.scheme, authority: "\(uri.host ?? "")\(port)", path: uri.path)
    }

    /// Sends an authorized request, and repeats it once if that may help.
    private static func call(_ request: HTTPRequest, in session: TokenSession) async throws -> (HTTPResponse, Int) {
        var request = request
        let authorization = try await session.authorize(&request)
        let response = try await send(request)
        guard try await session.shouldRepeat(authorization, after: response) else { return (response, 1) }
        try await session.authorize(&request)
        return (try await send(request), 2)
    }

    @Test func `an authorized request has a fresh token, and a rejected one is refreshed`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let session = TokenSession(ofAnyClientIn: store)
            let request = try Self.request(server.url(of: .api))
            #expect(try await Self.call(request, in: session) == (HTTPResponse.Status.ok, 1))
            server.change { $0.interruptions = [Interruption(at: .api, times: 1, ScriptedAnswer(status: 401))] }
            #expect(try await Self.call(request, in: session) == (HTTPResponse.Status.ok, 2))
            #expect(SignedIn.refreshes(at: server).count == 1)
            // A demand for more scopes is not met by a refresh.
            server.change { $0.api.requiredScope = "photos.write" }
            #expect(try await Self.call(request, in: session) == (HTTPResponse.Status.forbidden, 1))
        }
    }

    // RFC 9449 §7 and §9
    @Test func `a bound token gets a proof for the method and the URL, and a nonce`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            var options = NativeSignIn.Options()
            options.bindsTokens = true
            try await SignedIn.at(server, in: store, options: options)
            let session = TokenSession(ofAnyClientIn: store)
            server.change { $0.dpop.apiNonce = .lasting }
            let request = try Self.request(server.url(of: .api), method: .post)
            #expect(try await Self.call(request, in: session) == (HTTPResponse.Status.ok, 2))
            // The nonce is known now.
            #expect(try await Self.call(request, in: session) == (HTTPResponse.Status.ok, 1))

            let authorization = try await session.authorization(for: server.url(of: .api))
            #expect(Set(authorization.headerFields.map(\.name.rawName)) == ["Authorization", "DPoP"])
            let token = try await session.credentials().accessToken.exposed
            #expect(authorization.headerFields[.authorization] == "DPoP \(token)")
            var text = "\(authorization)"
            dump(authorization, to: &text)
            #expect(!text.contains(token))
        }
    }

    @Test(arguments: ["https://evil.example.com/", "http://api.example.com/", "ftp://api.example.com/", ""])
    func `a request to another origin gets no token`(url: String) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            let session = TokenSession(ofAnyClientIn: store)
            await #expect {
                try await session.authorization(for: url)
            } throws: {
                if case .refused = $0 as? SessionError { true } else { false }
            }
        }
    }

    @Test func `a request of a former user is not repeated with the token of another`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            try await SignedIn.at(server, scope: "openid", in: store)
            let session = TokenSession(ofAnyClientIn: store)
            var request = try Self.request(server.url(of: .api))
            let authorization = try await session.authorize(&request)
            server.change { $0.idToken.replaced = [WireMember("sub", "bob")] }
            try await SignedIn.at(server, scope: "openid", in: store)
            #expect(try await !session.shouldRepeat(authorization, after: HTTPResponse(status: .unauthorized)))
            #expect(SignedIn.refreshes(at: server).isEmpty)
        }
    }

    @Test func `a former authorization of the request is replaced`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let store = MemoryTokenStore()
            try await SignedIn.at(server, in: store)
            var request = try Self.request(server.url(of: .api))
            request.headerFields[.authorization] = "Basic x"
            try await TokenSession(ofAnyClientIn: store).authorize(&request)
            #expect(request.headerFields[values: .authorization].count == 1)
            #expect(request.headerFields[.authorization]?.hasPrefix("Bearer ") == true)
        }
    }
}

private func == (left: (HTTPResponse, Int), right: (HTTPResponse.Status, Int)) -> Bool {
    left.0.status == right.0 && left.1 == right.1
}
