import TestSupport
import Testing

/// The heads of HTTP/1 requests (RFC 9112 §3 and §6); each test sends raw bytes.
@Suite(.timeLimit(.minutes(10)))
struct RequestHeadTests {
    /// Returns the statuses of the responses to requests of one connection.
    private static func statuses(_ requests: String, _ site: Site) async throws -> [Int] {
        try await RawConnection.exchange(requests, port: site.port)
            .matches(of: /HTTP\/1\.1 (\d{3})/).compactMap { Int($0.output.1) }
    }

    // RFC 9112 §3.2
    @Test func `a request that does not name exactly one host is refused`() async throws {
        try await Site.runEmpty { site in
            for fields in [
                "", "Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n", "Host: 127.0.0.1\r\nhost: other.example\r\n", "Host:\r\n",
                "Host: alice@127.0.0.1\r\n", "Host: 127.0.0.1/a\r\n", "Host: a b\r\n", "Host: a, b\r\n",
                "Host: [::1\r\n",
                "Host: 127.0.0.1:80:80\r\n", "Host: 127.0.0.1:http\r\n", "Host: :8080\r\n", "Host: %zz\r\n",
            ] {
                let request = "GET /livez HTTP/1.1\r\n\(fields)\r\n"
                let statuses = try await Self.statuses(request, site)
                #expect(statuses == [400], "\(fields)")
            }
            for host in ["a", " 127.0.0.1:8080 \t", "[::1]:80", "[::1]", "a_b.example.", "127.0.0.1:", "a%2Eb"] {
                let request = "GET /livez HTTP/1.1\r\nHost:\(host)\r\nConnection: close\r\n\r\n"
                let statuses = try await Self.statuses(request, site)
                #expect(statuses == [200], "\(host)")
            }
            // RFC 9112 §3.2 asks for the field with HTTP/1.1 only.
            let old = try await Self.statuses("GET /livez HTTP/1.0\r\n\r\n", site)
            #expect(old == [200])
        }
    }

    @Test func `nothing is read from a connection after a head that is refused`() async throws {
        try await Site.runEmpty { site in
            let usual = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            let refused = "POST /oauth2/token HTTP/1.1\r\nContent-Length: \(usual.utf8.count)\r\n\r\n"
            let statuses = try await Self.statuses(usual + refused + usual + usual, site)
            #expect(statuses == [200, 400])
        }
    }

    // RFC 9112 §6.1
    @Test func `a body with a transfer coding other than chunked is refused`() async throws {
        try await Site.runEmpty { site in
            let start = "POST /oauth2/token HTTP/1."
            let type = "Host: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            let body = "\r\nc\r\ngrant_type=x\r\n0\r\n\r\n"
            for codings in [
                "identity, chunked", "gzip, chunked", "chunked, chunked", "chunked\r\nTransfer-Encoding: chunked",
            ] {
                let request = "\(start)1\r\n\(type)Transfer-Encoding: \(codings)\r\n\(body)"
                let statuses = try await Self.statuses(request, site)
                #expect(statuses == [501] || statuses == [400], "\(codings): \(statuses)")
            }
            let usual = "\(start)1\r\n\(type)Transfer-Encoding:  Chunked\r\nConnection: close\r\n\(body)"
            let answer = try await RawConnection.exchange(usual, port: site.port)
            #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("unsupported_grant_type"))
            let old = "\(start)0\r\n\(type)Transfer-Encoding: chunked\r\n\(body)"
            let refused = try await RawConnection.exchange(old, port: site.port)
            #expect(!refused.contains("unsupported_grant_type"))
        }
    }

    // RFC 9112 §3.2.1 to §3.2.4
    @Test func `a target is a path, an http URL or an asterisk for OPTIONS`() async throws {
        try await Site.runEmpty { site in
            for (request, status) in [
                ("GET http://127.0.0.1/livez", 200), ("GET HTTPS://127.0.0.1:443/livez", 200),
                ("GET http://127.0.0.1/livez?a=/b", 200), ("GET http://127.0.0.1", 303),
                ("GET http://127.0.0.1?a=b", 303),
                ("GET ftp://127.0.0.1/livez", 400), ("GET http:///livez", 400), ("GET http://a@127.0.0.1/livez", 400),
                ("GET *", 400), ("OPTIONS *", 404),
            ] {
                let text = "\(request) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                let statuses = try await Self.statuses(text, site)
                #expect(statuses == [status], "\(request)")
            }
        }
    }
}
