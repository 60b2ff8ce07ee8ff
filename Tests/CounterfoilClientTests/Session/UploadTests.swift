import CounterfoilClientTesting
@_spi(Counterfoil) import CounterfoilProtocol
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import CounterfoilClient

/// Tests of request bodies that are read from files.
@Suite(.timeLimit(.minutes(2)))
struct UploadTests {
    private static func post(_ body: RequestBody, to url: String) throws -> TransportRequest {
        try TransportRequest(api: url, method: .post, headerFields: [.contentType: "text/plain"], body: body)
    }

    /// A client with a token for an API.
    private static func client(of api: SocketAPI) throws -> ResourceClient {
        let credentials = Credentials(
            issuer: try Issuer("http://127.0.0.1:1"), clientID: try #require(ClientIdentifier("lightbox")),
            accessToken: try #require(AccessToken("token")), expires: nil, apiOrigins: [try APIOrigin(api.origin)])
        return ResourceClient(credentials)
    }

    // RFC 9449 §9: each of the two requests has a proof of its own, and the whole body.
    @Test func `a file is sent again from its start`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path("photo")
        try Data("a photo".utf8).write(to: URL(fileURLWithPath: file))
        try await ScriptedAuthorizationServer.run { server in
            var options = NativeSignIn.Options()
            options.bindsTokens = true
            let session = TokenSession(
                for: try SignedIn.signIn(at: server, options: options), store: MemoryTokenStore())
            try await session.signedIn()
            server.change { $0.dpop.apiNonce = .lasting }
            let body = try RequestBody(file: file)
            #expect(body.length == 7)
            #expect(body.isRepeatable)
            #expect(body.bytes == nil)
            for _ in 0..<2 {
                #expect(try await session.send(Self.post(body, to: server.url(of: .api))).statusCode == 200)
            }
            #expect(server.requests(to: .api).map(\.text) == ["a photo", "a photo", "a photo"])
        }
    }

    @Test func `a body that can be read only once is not sent again`() async throws {
        let pipe = Pipe()
        let count = Mutex(0)
        let api = try SocketAPI { exchange in
            count.withLock { $0 += 1 }
            exchange.readBody { $0.suffix(5).elementsEqual("0\r\n\r\n".utf8) }
            exchange.write("HTTP/1.1 307 Temporary Redirect\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
        }
        let writing = pipe.fileHandleForWriting
        Thread.detachNewThread {
            try? writing.write(contentsOf: Data(repeating: 0x7A, count: 3 << 20))
            try? writing.close()
        }
        let body = try RequestBody(file: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)")
        #expect(!body.isRepeatable)
        #expect(body.length == nil)
        let response = try await Self.client(of: api).send(Self.post(body, to: api.origin))
        #expect(response.statusCode == 307)
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `a file that becomes shorter while it is sent is an error`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.path("photo")
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        #expect(truncate(file, 256 << 20) == 0)
        let api = try SocketAPI { exchange in
            #expect(truncate(file, 0) == 0)
            exchange.readBody { _ in false }
        }
        let failure = ResourceClient.Failure.noResponse(
            .bodyUnreadable(reason: "the file became shorter while it was sent"))
        await #expect(throws: failure) {
            try await Self.client(of: api).send(Self.post(RequestBody(file: file), to: api.origin))
        }
    }

    @Test func `a file that cannot be opened is an error before a request`() throws {
        #expect(throws: RequestBody.Unreadable.self) { try RequestBody(file: "/nonexistent") }
        #expect(throws: RequestBody.Unreadable.self) { try RequestBody(file: "/tmp") }
        #expect(try RequestBody(file: "/dev/null").bytes == [])
        // The kernel gives this file the length 0.
        #expect(try RequestBody(file: "/proc/self/status").bytes?.isEmpty == false)
    }
}
