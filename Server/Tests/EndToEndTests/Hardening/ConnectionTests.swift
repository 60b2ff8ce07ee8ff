import Foundation
import HTTPTypes
import TestSupport
import Testing

/// The messages on one connection (RFC 9112 §9); each test sends raw bytes.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionTests {
    private static let health = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    private static let last = "GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive, Close\r\n\r\n"

    private static func token(_ body: String, _ length: Int? = nil) -> String {
        "POST /oauth2/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            + "Content-Length: \(length ?? body.utf8.count)\r\n\r\n\(body)"
    }

    /// Returns the status of each response, in order.
    private static func statuses(of answers: String) -> [Int] {
        answers.matches(of: /HTTP\/1\.1 (\d{3})/).compactMap { Int($0.output.1) }
    }

    @Test func `pipelined requests are answered in order`() async throws {
        try await Site.runEmpty { site in
            let requests = [Self.health, Self.token("grant_type=x"), Self.health, Self.token("a"), Self.last]
            let answers = try await RawConnection.exchange(requests.joined(), port: site.port)
            #expect(Self.statuses(of: answers) == [200, 400, 200, 400, 404])
            #expect(answers.components(separatedBy: "\r\nDate: ").count == 6)
        }
    }

    @Test func `a request that arrives in pieces is one request`() async throws {
        try await Site.runEmpty { site in
            let answer = try await RawConnection.run(port: site.port) { connection in
                for byte in Self.token("grant_type=unheard-of") { try await connection.send(String(byte)) }
                try await connection.send(Self.last)
                return try await connection.everything()
            }
            #expect(answer.contains("unsupported_grant_type"))
            #expect(Self.statuses(of: answer) == [400, 404])
        }
    }

    @Test func `the connection stays open after a body that is too large`() async throws {
        try await Site.runEmpty { site in
            let request = Self.token(String(repeating: "a", count: 300_000))
            let answers = try await RawConnection.exchange(request + Self.health + Self.last, port: site.port)
            #expect(Self.statuses(of: answers) == [413, 200, 404])
        }
    }

    @Test func `an invalid request after a valid one does not prevent its response`() async throws {
        try await Site.runEmpty { site in
            let answers = try await RawConnection.exchange(Self.health + "NONSENSE\r\n\r\n", port: site.port)
            #expect(Self.statuses(of: answers) == [200, 400])
            try await site.expectAlive()
        }
    }

    @Test(arguments: ["", "Connection: keep-alive\r\n"])
    func `an HTTP/1.0 connection ends after its first response`(field: String) async throws {
        try await Site.runEmpty { site in
            let request = "GET /livez HTTP/1.0\r\nHost: 127.0.0.1\r\n\(field)\r\n"
            let answers = try await RawConnection.exchange(request + request, port: site.port)
            #expect(Self.statuses(of: answers) == [200])
            #expect(answers.lowercased().contains("\r\nconnection: close\r\n"))
        }
    }

    // After each of these the server parses no further request. A proxy that kept the connection would lose
    // the next one.
    @Test(arguments: [
        "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
        "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n",
    ])
    func `a connection ends after the response to an upgrade request`(request: String) async throws {
        try await Site.runEmpty { site in
            let answers = try await RawConnection.exchange(request + Self.health, port: site.port)
            #expect(Self.statuses(of: answers).count == 1)
            #expect(answers.lowercased().contains("\r\nconnection: close\r\n"))
            try await site.expectAlive()
        }
    }

    // The buffers on the way hold a fraction of these responses, so without a limit the server would store
    // the rest.
    @Test func `a client that does not read its responses gets no more of them, and is disconnected`() async throws {
        try await Site.runEmpty { site in
            var agent = UserAgent()
            let page = try await agent.send(.get, site.issuer + "/sign-in").body
            let asset = try #require(page.firstMatch(of: /href="(\/assets\/[^"]+\.css)"/)?.output.1)
            let padding = String(repeating: "a", count: 8000)
            let request = "GET \(asset) HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Padding: \(padding)\r\n\r\n"
            let taken = try await RawConnection.run(port: site.port) { connection in
                for count in 0..<8000 { do { try await connection.send(request) } catch { return count } }
                return 8000
            }
            #expect(taken < 8000)
            try await site.expectAlive()
        }
    }

    @Test func `a response to HEAD has the Content-Length of the body and no body`() async throws {
        try await Site.runEmpty { site in
            let head = Self.last.replacing("GET", with: "HEAD")
            let answer = try await RawConnection.exchange(head, port: site.port)
            #expect(Self.statuses(of: answer) == [404])
            let length = try #require(answer.firstMatch(of: /(?i)\r\ncontent-length: (\d+)\r\n/))
            #expect(Int(length.output.1) ?? 0 > 0)
            #expect(answer.hasSuffix("\r\n\r\n"))
        }
    }

    @Test func `a client that stops sending gets the responses to its requests`() async throws {
        try await Site.runEmpty { site in
            let answers = try await RawConnection.run(port: site.port) { connection in
                try await connection.send(Self.health + Self.token("a"))
                connection.finish()
                return try await connection.everything()
            }
            #expect(Self.statuses(of: answers) == [200, 400])
        }
    }

    // Pending responses must be sent after the client ends sending, before the server closes the connection.
    @Test func `a client that has stopped sending can read all its responses, however slowly`() async throws {
        try await Site.runEmpty { site in
            var agent = UserAgent()
            let page = try await agent.send(.get, site.issuer + "/sign-in").body
            let asset = try #require(page.firstMatch(of: /href="(\/assets\/[^"]+\.css)"/)?.output.1)
            let count = 400
            let request = "GET \(asset) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            let answers = try await RawConnection.run(port: site.port, receiveBuffer: 8192) { connection in
                try await connection.send(String(repeating: request, count: count))
                connection.finish()
                return try await connection.everything(pausing: .microseconds(200))
            }
            #expect(Self.statuses(of: answers) == Array(repeating: 200, count: count))
            let length = try #require(answers.firstMatch(of: /(?i)\r\ncontent-length: (\d+)\r\n/)).output.1
            let last = try #require(answers.components(separatedBy: "\r\n\r\n").last)
            #expect(last.utf8.count == Int(length))
        }
    }
}
