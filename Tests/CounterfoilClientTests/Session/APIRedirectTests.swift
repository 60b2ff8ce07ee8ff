import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of redirects with which an API responds.
@Suite(.timeLimit(.minutes(2)))
struct APIRedirectTests {
    // RFC 9110 §15.4
    @Test(arguments: [
        (301, HTTPRequest.Method.post, HTTPRequest.Method.get), (302, .post, .get), (303, .post, .get),
        (307, .post, .post), (308, .post, .post), (303, .put, .get), (302, .put, .put), (303, .head, .head),
        (302, .get, .get),
    ])
    func `a redirect within the origin is followed with the method of its status`(
        status: Int, sent: HTTPRequest.Method, followed: HTTPRequest.Method
    ) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore())
            server.change {
                $0.interruptions = [Interruption(at: .api, times: 1, .redirect(to: "/api/next?a=b", status: status))]
            }
            let hasBody = sent == .post || sent == .put
            let response = try await ResourceClient(credentials).send(
                TransportRequest(
                    api: server.url(of: .api), method: sent, headerFields: hasBody ? [.contentType: "text/plain"] : [:],
                    body: hasBody ? RequestBody("photo".utf8) : RequestBody()))
            #expect(response.statusCode == 200)
            let calls = server.requests(to: .api)
            #expect(calls.map(\.path) == ["/api", "/api/next"])
            let last = try #require(calls.last)
            #expect(last.method == followed)
            let keepsBody = followed == sent && hasBody
            #expect(last.text == (keepsBody ? "photo" : ""))
            #expect((last.headerFields[.contentType] != nil) == keepsBody)
            #expect(last.authorization == calls.first?.authorization)
        }
    }

    // Neither another host nor another port.
    @Test func `a redirect to another origin is returned, also after one within the origin`() async throws {
        try await ScriptedAuthorizationServer.run { evil in
            try await ScriptedAuthorizationServer.run { server in
                let credentials = try await SignedIn.at(server, in: MemoryTokenStore())
                for elsewhere in [
                    evil.url(of: .api), String(evil.url(of: .api).dropFirst("http:".count)), "https://127.0.0.1/api",
                    "http://localhost/api", "ftp://127.0.0.1/", "http://a@127.0.0.1/", "//", "http:",
                ] {
                    server.change {
                        $0.interruptions = [
                            Interruption(at: .api, times: 1, .redirect(to: "/api/next", status: 307)),
                            Interruption(at: .api, .redirect(to: elsewhere, status: 307)),
                        ]
                    }
                    let response = try await ResourceClient(credentials).get(server.url(of: .api))
                    #expect(response.statusCode == 307, "\(elsewhere)")
                    #expect(response.head.headerFields[.location] == elsewhere)
                }
            }
            #expect(evil.requests.isEmpty)
        }
    }

    @Test func `at most five redirects are followed`() async throws {
        try await ScriptedAuthorizationServer.run { server in
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore())
            server.change { $0.interruptions = [Interruption(at: .api, .redirect(to: "/api/again"))] }
            #expect(try await ResourceClient(credentials).get(server.url(of: .api)).statusCode == 302)
            #expect(server.requests(to: .api).count == 6)
        }
    }

    // The sending of a file may take longer than the time limit of the request.
    @Test func `a redirect after a body from a file has the whole time limit`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("photo")
        try Data("photo".utf8).write(to: file)
        for (status, limits) in [(303, 1), (307, 6)] {
            let limit = Duration.nanoseconds(1)
            let request = TransportRequest(
                try EndpointURL("https://photos.example.com/photos"), method: .post,
                body: try RequestBody(file: file.path), timeout: limit)
            let received = Mutex<[Duration]>([])
            let response = try await APIRedirects.send(request) { request throws(TransportFailure) in
                let count = received.withLock { limits in
                    limits.append(request.timeout)
                    return limits.count
                }
                let next: HTTPResponse.Status = count <= limits ? .init(code: status) : .ok
                return TransportResponse(
                    head: HTTPResponse(status: next, headerFields: [.location: "/photos/1"]), body: [])
            }
            #expect(response.statusCode == (limits < 6 ? 200 : 307))
            #expect(received.withLock(\.self) == Array(repeating: limit, count: limits < 6 ? 2 : 6))
        }
    }

    // RFC 9449 §4.2: the proof names the URL of its own request.
    @Test func `each request along a redirect has its own proof`() async throws {
        try await ScriptedAuthorizationServer.run(ServerScript(.requiresDPoP)) { server in
            var options = NativeSignIn.Options()
            options.bindsTokens = true
            let credentials = try await SignedIn.at(server, in: MemoryTokenStore(), options: options)
            server.change { $0.interruptions = [Interruption(at: .api, times: 1, .redirect(to: "/api/next"))] }
            #expect(try await ResourceClient(credentials).get(server.url(of: .api)).statusCode == 200)
        }
    }

    // RFC 3986 §5.4
    @Test(arguments: [
        ("g", "https://a/b/c/g"), ("./g", "https://a/b/c/g"), ("g/", "https://a/b/c/g/"), ("/g", "https://a/g"),
        ("//g", "https://g"), ("?y", "https://a/b/c/d;p?y"), ("g?y", "https://a/b/c/g?y"),
        ("#s", "https://a/b/c/d;p?q"), ("g#s", "https://a/b/c/g"), ("", "https://a/b/c/d;p?q"),
        (".", "https://a/b/c/"), ("..", "https://a/b/"), ("../g", "https://a/b/g"), ("../../../g", "https://a/g"),
        ("/./g", "https://a/g"), ("/../g", "https://a/g"), ("g/../h", "https://a/b/c/h"),
        ("https://x/y#z", "https://x/y"),
    ])
    func `a reference is resolved against the URL of the request`(reference: String, url: String) throws {
        #expect(try EndpointURL("https://a/b/c/d;p?q").resolving(reference) == url)
    }
}
