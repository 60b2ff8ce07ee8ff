import CounterfoilProtocol
import Foundation
import Testing

@testable import CounterfoilClient

/// Tests of the request heads that a loopback receiver reads from its connections.
@Suite(.timeLimit(.minutes(2)))
struct LoopbackRequestTests {
    private static func parse(_ text: String, known: Int = 0) throws -> LoopbackRequest? {
        try LoopbackRequest(parsing: Array(text.utf8), known: known)
    }

    // RFC 9112 §2.1 and §5
    @Test func `method, target and Host are read, and nothing before the head is complete`() throws {
        let head = "GET /callback?a=b HTTP/1.1\r\nhost:\t127.0.0.1:80 \r\nCookie: x=1\r\nEmpty:\r\n\r\n"
        for length in 0..<head.utf8.count {
            #expect(
                try Self.parse(
                    String(decoding: Array(head.utf8.prefix(length)), as: UTF8.self), known: max(0, length - 1)) == nil)
        }
        for known in 0..<head.utf8.count {
            let request = try #require(try Self.parse(head + "body", known: known))
            #expect(request.method == "GET")
            #expect(request.target == "/callback?a=b")
            #expect(request.hosts == ["127.0.0.1:80"])
        }
        #expect(try Self.parse("POST / HTTP/1.0\r\n\r\n")?.hosts == [])
        #expect(try Self.parse("GET / HTTP/1.1\r\nHost: a\r\nHOST: b\r\n\r\n")?.hosts == ["a", "b"])
    }

    // RFC 9112 §2.2, §3 and §5
    @Test func `anything but an HTTP request head is refused`() {
        for text in [
            "\u{16}\u{3}\u{1}", " GET / HTTP/1.1\r\n\r\n", "\r\nGET / HTTP/1.1\r\n\r\n", "GET /\r\n\r\n",
            "GET  / HTTP/1.1\r\n\r\n", "GET / x HTTP/1.1\r\n\r\n", "GET / HTTP/2.0\r\n\r\n",
            "GET / http/1.1\r\n\r\n", "G(T / HTTP/1.1\r\n\r\n", "GET /\u{7F} HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\n\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\nHost\r\n\r\n", "GET / HTTP/1.1\r\n: a\r\n\r\n",
            "GET / HTTP/1.1\r\nX: a\r\n Host: b\r\n\r\n", "GET / HTTP/1.1\r\nX: a\rHost: b\r\n\r\n",
            "GET / HTTP/1.1\r\nX: \0\r\n\r\n",
        ] {
            #expect(throws: LoopbackRequest.Refusal.malformed, "\(text.debugDescription)") { try Self.parse(text) }
        }
    }

    @Test func `the target and the head have limits, also without an end`() {
        let endless = String(repeating: "a", count: LoopbackRequest.targetLimit + 1)
        #expect(throws: LoopbackRequest.Refusal.targetTooLong) { try Self.parse("GET /\(endless)\(endless)") }
        #expect(throws: LoopbackRequest.Refusal.targetTooLong) { try Self.parse("GET /\(endless) HTTP/1.1\r\n\r\n") }
        let cookies = "GET / HTTP/1.1\r\nCookie: " + String(repeating: "a", count: LoopbackRequest.headLimit)
        #expect(throws: LoopbackRequest.Refusal.headTooLong) { try Self.parse(cookies) }
        #expect(throws: LoopbackRequest.Refusal.headTooLong) { try Self.parse(cookies + "\r\n\r\n") }
    }

    @Test func `a response arrives byte by byte`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let port = try #require(receiver.redirectURI.uri.port)
        let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
        receiver.expect(attempt.expectation)
        let connection = try RawConnection.Shared(port: port)
        for character in "GET /callback?code=a&state=\(try attempt.state()) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
        {
            connection.send(String(character))
        }
        #expect(await connection.rest().hasPrefix("HTTP/1.1 200 OK\r\n"))
        _ = try attempt.complete(with: try await receiver.callback(within: .seconds(60)))
        await receiver.close()
    }

    // Cookies of web applications under development on the same device.
    @Test func `long cookies do not prevent the response, and longer ones get a response that says so`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let port = try #require(receiver.redirectURI.uri.port)
        for (count, status) in [(100_000, 400), (200_000, 431)] {
            let connection = try RawConnection.Shared(port: port)
            async let page = connection.rest()
            connection.send(
                "GET /callback HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: \(String(repeating: "a", count: count))\r\n\r\n"
            )
            #expect(await page.hasPrefix("HTTP/1.1 \(status) "))
        }
        await receiver.close()
    }

    @Test func `several tasks can wait for one response`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let attempt = try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
        receiver.expect(attempt.expectation)
        let port = try #require(receiver.redirectURI.uri.port)
        async let first = receiver.callback(within: .seconds(60))
        async let second = receiver.callback(within: .seconds(60))
        _ = try RawConnection.exchange(
            "GET /callback?code=a&state=\(attempt.state()) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", port: port)
        for callback in [try await first, try await second] {
            #expect(try callback.parameters.single("code") == "a")
        }
        await receiver.close()
    }

    @Test func `a receiver that is deallocated releases its port`() async throws {
        var receiver: LoopbackReceiver? = try await LoopbackReceiver.listen()
        let port = try #require(receiver?.redirectURI.uri.port)
        let connection = try RawConnection.Shared(port: port)
        receiver = nil
        // The peer closes the connection after the listening sockets.
        #expect(await connection.rest().isEmpty)
        #expect(!RawConnection.isOpen(port: port))
    }
}
