import CounterfoilClientTesting
import CounterfoilProtocol
import HTTPTypes
import Testing

@testable import CounterfoilClient

struct ResourceClientTests {
    // R077 R195 R202; RFC 6750 §2.1
    @Test func `the token goes in the Authorization header and nowhere else`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let client = ResourceClient(try EncryptedFileTokenStoreTests.credentials("the-token"))
            let answer = try await client.get("\(server.url(of: .api))?year=2026")
            #expect(answer.statusCode == 401)
            let request = try #require(server.requests.first)
            #expect(request.head.headerFields[values: .authorization] == ["Bearer the-token"])
            #expect(request.head.path == "/api?year=2026")
            #expect(request.head.headerFields.count { $0.value.contains("the-token") } == 1)
        }
    }

    // R195
    @Test func `a second way to send a token is refused`() async throws {
        let client = ResourceClient(try EncryptedFileTokenStoreTests.credentials())
        await #expect(throws: ResourceClient.Refusal.secondAuthorization) {
            try await client.send(
                TransportRequest(api: "https://api.example.com/", headerFields: [.authorization: "Basic x"]))
        }
    }

    // CL-45, SEC-86
    @Test(arguments: ["http://api.example.com/", "ftp://127.0.0.1/", "http://127.0.0.2/", "https://a@b/", "photos"])
    func `a URL that could leak the token is refused`(url: String) async throws {
        let client = ResourceClient(try EncryptedFileTokenStoreTests.credentials())
        await #expect(throws: ResourceClient.Refusal.self) { try await client.get(url) }
    }

    // CL-44, SEC-85
    @Test func `a redirect is returned and the token is not sent along it`() async throws {
        try await ScriptedAuthorizationServer.run { evil in
            var script = ServerScript()
            script.interruptions = [Interruption(at: .api, .redirect(to: evil.url(of: .api)))]
            try await ScriptedAuthorizationServer.run(script) { server in
                let client = ResourceClient(try EncryptedFileTokenStoreTests.credentials())
                #expect(try await client.get(server.url(of: .api)).statusCode == 302)
            }
            #expect(evil.requests.isEmpty)
        }
    }
}
