import CounterfoilClient
import CounterfoilClientTesting
import CounterfoilProtocol
import Foundation
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(2)))
struct RecordedRequestTests {
    @Test func `each request is recorded as it was sent`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let client = PlainClient(server: server)
            _ = try await client.get("\(server.origin)/nowhere?a=1&a=&b=%20", fields: ["X-Test": "yes"])
            _ = try await client.token("password", ["username": "alice", "code": "a b"])
            let requests = server.requests
            #expect(requests.map(\.endpoint) == [.unknown, .token])
            #expect(requests[0].path == "/nowhere")
            #expect(requests[0].query.all("a") == ["1", ""])
            #expect(requests[0].query["b"] == " ")
            #expect(requests[0].field("X-Test") == "yes")
            #expect(requests[0].time <= requests[1].time)
            #expect(requests[1].method == .post)
            #expect(requests[1].form.names == ["client_id", "code", "grant_type", "username"])
            #expect(requests[1].form["code"] == "a b")
            #expect(server.secrets.contains("a b"))
            server.forgetRequests()
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a wait for requests ends when they have arrived`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            async let two = server.requests(to: .api, atLeast: 2)
            let client = PlainClient(server: server)
            _ = try await client.callAPI(nil)
            _ = try await client.get(server.url(of: .keys))
            _ = try await client.callAPI(nil)
            #expect(try await two.map(\.endpoint) == [.api, .api])
            #expect(try await server.requests(to: .keys, atLeast: 1).count == 1)
        }
    }

    @Test func `a wait for requests times out and can be cancelled`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            await #expect(throws: ScriptedAuthorizationServer.TimedOut.self) {
                try await server.requests(to: .api, atLeast: 1, within: .milliseconds(20))
            }
            let wait = Task { try await server.requests(to: .api, atLeast: 1, within: .seconds(3600)) }
            wait.cancel()
            await #expect(throws: (any Error).self) { try await wait.value }
        }
    }

    @Test func `a script can change while the server runs`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let client = PlainClient(server: server)
            let tokens = try await client.signIn()
            server.expireAccessTokens()
            #expect(try await client.callAPI(tokens.text("access_token")).status == 401)
            server.change { $0.interruptions = [Interruption(at: .api, times: 1, .trouble(503))] }
            #expect(try await client.callAPI(nil).status == 503)
            #expect(try await client.callAPI(nil).status == 401)
            server.revokeEverything()
            #expect(try await client.refresh(tokens.text("refresh_token")).text("error") == "invalid_grant")
        }
    }

    @Test func `a server that has ended cannot be reached`() async throws {
        let client = try await ScriptedAuthorizationServer.run { PlainClient(server: $0) }
        await #expect(throws: (any Error).self) { _ = try await client.callAPI(nil) }
    }
}
