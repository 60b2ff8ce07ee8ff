import Foundation
import TestSupport
import Testing

/// A server with a second origin, which it distinguishes by the `Host` field.
@Suite(.timeLimit(.minutes(10)))
struct CallbackOriginTests {
    private static let issuer = "https://id.example.com"
    private static let origin = "https://cb.example.com"

    /// Runs `body` with a server that has a second origin, and with the client identifier of a verified
    /// app.
    private static func run(_ body: @escaping @Sendable (Site, String) async throws -> Void) async throws {
        try await Site.make { site in
            try await site.addScope("photos.read", "See your photos and albums")
            // The command line knows the second origin after the server has run once.
            let options = ["--callback-origin", origin]
            try await site.start(issuer: issuer, options: options).whileRunning {}
            let clientID = "lightbox.example.com"
            _ = try await site.registerClient(
                redirectURIs: ["\(origin)/callback/\(clientID)"],
                options: [
                    "--client-id", clientID, "--ios-app", "ABCDE12345.com.example.lightbox", "--claimed-https-verified",
                ])
            try await site.start(issuer: issuer, options: options).whileRunning { try await body(site, clientID) }
        }
    }

    private static func exchange(_ site: Site, _ host: String, _ path: String, method: String = "GET") async throws
        -> String
    {
        try await RawConnection.exchange(
            "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            port: site.port)
    }

    @Test func `the second origin has the files and the callback page`() async throws {
        try await Self.run { site, clientID in
            let file = try await Self.exchange(site, "cb.example.com", "/.well-known/apple-app-site-association")
            #expect(RawConnection.status(of: file) == 200)
            #expect(file.contains(#""webcredentials":{"apps":["ABCDE12345.com.example.lightbox"]}"#))
            #expect(file.contains(#"{"/":"/callback/\#(clientID)"}"#))
            let page = try await Self.exchange(site, "CB.example.com:443", "/callback/\(clientID)?code=abc&state=def")
            #expect(RawConnection.status(of: page) == 200)
            #expect(!page.contains("abc") && !page.lowercased().contains("set-cookie"))
            let stylesheet = try #require(page.firstMatch(of: /rel="stylesheet" href="([^"]+)"/)).1
            #expect(
                RawConnection.status(of: try await Self.exchange(site, "cb.example.com", String(stylesheet))) == 200)
            #expect(RawConnection.status(of: try await Self.exchange(site, "cb.example.com", "/livez")) == 200)

            let main = try await Self.exchange(site, "id.example.com", "/.well-known/apple-app-site-association")
            #expect(RawConnection.status(of: main) == 200)
            #expect(!main.contains("lightbox"))
        }
    }

    @Test func `the second origin has no sign-in page, and other hosts are refused`() async throws {
        try await Self.run { site, _ in
            for path in [
                "/", "/sign-in", "/account", "/oauth2/authorize", "/.well-known/openid-configuration", "/oauth2/jwks",
                "/setup",
            ] {
                let answer = try await Self.exchange(site, "cb.example.com", path)
                #expect(RawConnection.status(of: answer) == 404, "\(path)")
                #expect(!answer.lowercased().contains("set-cookie") && !answer.contains("password"))
                #expect(!answer.contains("href=\"/account"))
                #expect(RawConnection.status(of: try await Self.exchange(site, "127.0.0.1", path)) == 421, "\(path)")
            }
            for path in ["/oauth2/token", "/oauth2/revoke", "/oauth2/authorize/sign-in"] {
                #expect(
                    RawConnection.status(of: try await Self.exchange(site, "cb.example.com", path, method: "POST"))
                        == 404)
            }
            #expect(RawConnection.status(of: try await Self.exchange(site, "127.0.0.1", "/livez")) == 200)
            #expect(RawConnection.status(of: try await Self.exchange(site, "id.example.com", "/oauth2/jwks")) == 200)
        }
    }

    // RFC 9112 §3.2.2
    @Test func `the host of an absolute target decides on the origin, whatever Host says`() async throws {
        try await Self.run { site, _ in
            for scheme in ["http", "https"] {
                let second = try await Self.exchange(site, "id.example.com", "\(scheme)://cb.example.com/sign-in")
                #expect(RawConnection.status(of: second) == 404)
                let first = try await Self.exchange(site, "cb.example.com", "\(scheme)://id.example.com/sign-in")
                #expect(RawConnection.status(of: first) == 200)
                let other = try await Self.exchange(site, "id.example.com", "\(scheme)://other.example.com/sign-in")
                #expect(RawConnection.status(of: other) == 421)
            }
            let both = "GET /sign-in HTTP/1.1\r\nHost: cb.example.com\r\nHost: id.example.com\r\n\r\n"
            #expect(RawConnection.status(of: try await RawConnection.exchange(both, port: site.port)) == 400)
        }
    }

    @Test func `the command line refuses every other URL of the second origin`() async throws {
        try await Self.run { site, clientID in
            let refused = try await site.administer([
                "app", "create", "--type", "native", "--name", "Other", "--redirect-uri", "\(Self.origin)/elsewhere",
            ])
            #expect(refused.status == 3)
            let matches = try await site.administer(["app", "check", clientID, "\(Self.origin)/callback/\(clientID)"])
            #expect(matches.status == 0)
        }
    }
}
