import CounterfoilClientTesting
import CounterfoilProtocol
import HTTPTypes
import Testing

@testable import CounterfoilClient

struct ResourceClientTests {
    // RFC 6750 §2.1
    @Test func `the token goes in the Authorization header and nowhere else`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let client = ResourceClient(
                try EncryptedFileTokenStoreTests.credentials("the-token", issuer: server.issuer))
            let answer = try await client.get("\(server.url(of: .api))?year=2026")
            #expect(answer.statusCode == 401)
            let request = try #require(server.requests.first)
            #expect(request.head.headerFields[values: .authorization] == ["Bearer the-token"])
            #expect(request.head.path == "/api?year=2026")
            #expect(request.head.headerFields.count { $0.value.contains("the-token") } == 1)
        }
    }

    @Test func `a second way to send a token is refused`() async throws {
        let client = ResourceClient(try EncryptedFileTokenStoreTests.credentials())
        await #expect(throws: ResourceClient.Failure.refused(.secondAuthorization)) {
            try await client.send(
                TransportRequest(api: "https://api.example.com/", headerFields: [.authorization: "Basic x"]))
        }
    }

    @Test(arguments: ["http://api.example.com/", "ftp://127.0.0.1/", "http://127.0.0.2/", "https://a@b/", "photos"])
    func `a URL that could leak the token is refused`(url: String) async throws {
        let client = ResourceClient(try EncryptedFileTokenStoreTests.credentials())
        await #expect(throws: ResourceClient.Failure.self) { try await client.get(url) }
    }

    // Addresses of OData queries and of presigned uploads.
    @Test func `a long URL with characters of queries is sent with percent-encoding`() async throws {
        let long = String(repeating: "a", count: 20_000)
        try await ScriptedAuthorizationServer.run { server in
            let client = ResourceClient(try EncryptedFileTokenStoreTests.credentials(issuer: server.issuer))
            let answer = try await client.get("\(server.url(of: .api))?$filter=a|b eq \"é\"&{x}=%20&long=\(long)")
            #expect(answer.statusCode == 401)
            #expect(
                server.requests.first?.head.path
                    == "/api?$filter=a%7Cb%20eq%20%22%C3%A9%22&%7Bx%7D=%20&long=\(long)")
            let tooLong = "\(server.url(of: .api))?\(String(repeating: "a", count: 64 * 1024))"
            await #expect(throws: ResourceClient.Failure.refused(.badURL(.tooLong))) { try await client.get(tooLong) }
        }
    }

    @Test(arguments: [
        "https://api.exa|mple.com/", "https://api.example.com\\@evil.example/", "https://api.example.com/a\nb",
        "https://api.example.com/a#b", "https://api.example.com/%zz", "https://é.example.com/",
    ])
    func `characters that could change the host or the request are refused`(url: String) async throws {
        let client = ResourceClient(try EncryptedFileTokenStoreTests.credentials())
        await #expect {
            try await client.get(url)
        } throws: {
            if case .refused(.badURL) = $0 as? ResourceClient.Failure { true } else { false }
        }
    }

    @Test func `a token goes to the named origins only`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            try await ScriptedAuthorizationServer.run { other in
                let credentials = try EncryptedFileTokenStoreTests.credentials(issuer: server.issuer)
                #expect(credentials.allowedOrigins == [try APIOrigin(server.origin)])
                let client = ResourceClient(credentials)
                #expect(try await client.get(server.url(of: .api)).statusCode == 401)
                let there = try APIOrigin(other.origin)
                await #expect(
                    throws: ResourceClient.Failure.refused(.otherOrigin(there, allowed: credentials.allowedOrigins))
                ) { try await client.get(other.url(of: .api)) }
                #expect(other.requests.isEmpty)
                let named = ResourceClient(credentials, origins: [there])
                #expect(try await named.get(other.url(of: .api)).statusCode == 401)
                await #expect(throws: ResourceClient.Failure.self) { try await named.get(server.url(of: .api)) }
            }
        }
    }

    @Test func `a token of a server elsewhere is not sent to this device in clear`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let here = try APIOrigin(server.origin)
            let client = ResourceClient(try EncryptedFileTokenStoreTests.credentials(), origins: [here])
            await #expect(throws: ResourceClient.Failure.refused(.foreignLoopback(here))) {
                try await client.get(server.url(of: .api))
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `the default port and the case of the host do not matter`() async throws {
        #expect(try APIOrigin("https://API.example.com:443/") == APIOrigin("https://api.example.com"))
        #expect(try APIOrigin("https://api.example.com:8443") != APIOrigin("https://api.example.com"))
        #expect(throws: APIOrigin.Refusal.notOnlyOrigin) { try APIOrigin("https://api.example.com/v1") }
        #expect(throws: APIOrigin.Refusal.self) { try APIOrigin("http://api.example.com") }
    }

    @Test func `a redirect is returned and the token is not sent along it`() async throws {
        try await ScriptedAuthorizationServer.run { evil in
            var script = ServerScript()
            script.interruptions = [Interruption(at: .api, .redirect(to: evil.url(of: .api)))]
            try await ScriptedAuthorizationServer.run(script) { server in
                let client = ResourceClient(try EncryptedFileTokenStoreTests.credentials(issuer: server.issuer))
                #expect(try await client.get(server.url(of: .api)).statusCode == 302)
            }
            #expect(evil.requests.isEmpty)
        }
    }
}
