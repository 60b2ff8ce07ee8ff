import CounterfoilProtocol
import HTTPTypes
import TestSupport
import Testing

/// Requests that are too large, too slow or not HTTP; the server keeps running after each of them.
@Suite(.timeLimit(.minutes(10)))
struct BadRequestTests {
    @Test(arguments: [
        "/oauth2/authorize", "/oauth2/par", "/oauth2/token", "/oauth2/authorize/sign-in", "/oauth2/authorize/consent",
    ])
    func `a body that is too large is refused`(path: String) async throws {
        try await Site.runEmpty { site in
            let answer = try await RawConnection.exchange(
                """
                POST \(path) HTTP/1.1\r
                Host: 127.0.0.1\r
                Content-Type: application/x-www-form-urlencoded\r
                Content-Length: 200000\r
                Connection: close\r
                \r
                \(String(repeating: "a", count: 200_000))
                """, port: site.port)
            #expect(RawConnection.status(of: answer) == 413)
            try await site.expectAlive()
        }
    }

    @Test func `an endless body is refused at the size limit`() async throws {
        try await Site.runEmpty { site in
            let chunk = "4000\r\n" + String(repeating: "a", count: 0x4000) + "\r\n"
            let answer = try await RawConnection.exchange(
                """
                POST /oauth2/token HTTP/1.1\r
                Host: 127.0.0.1\r
                Content-Type: application/x-www-form-urlencoded\r
                Transfer-Encoding: chunked\r
                Connection: close\r
                \r
                \(chunk)\(chunk)\(chunk)
                """, port: site.port)
            #expect(RawConnection.status(of: answer) == 413)
            try await site.expectAlive()
        }
    }

    @Test(arguments: [33_000, 60_000, 100_000, 1_000_000])
    func `a URL that is too long is refused`(length: Int) async throws {
        try await Site.runEmpty { site in
            let answer = try await RawConnection.exchange(
                "GET /oauth2/authorize?state=\(String(repeating: "a", count: length)) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    + "Connection: close\r\n\r\n", port: site.port)
            #expect([400, 414, 431].contains(RawConnection.status(of: answer)), "\(answer.prefix(40))")
            try await site.expectAlive()
        }
    }

    // The limits of URL and body answer, and the page shows nothing of the redirect URI.
    @Test(arguments: [HTTPRequest.Method.get, .post])
    func `a redirect URI of 100 KB is refused without a trace`(method: HTTPRequest.Method) async throws {
        try await Site.run { site, clientID in
            let form = FormParameters([
                "response_type": "code", "client_id": clientID, "scope": "photos.read", "state": "xyz",
                "redirect_uri": "http://127.0.0.1/callback" + String(repeating: "a", count: 100_000),
            ]).encoded
            let isGet = method == .get
            let fields =
                isGet
                ? "" : "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n"
            let answer = try await RawConnection.exchange(
                "\(method) /oauth2/authorize\(isGet ? "?" + form : "") HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields)"
                    + "Connection: close\r\n\r\n\(isGet ? "" : form)", port: site.port)
            #expect((isGet ? [400, 414, 431] : [413]).contains(RawConnection.status(of: answer)))
            #expect(!answer.contains("aaaa"))
            #expect(!answer.lowercased().contains("\r\nlocation:"))
            try await site.expectAlive()
        }
    }

    // A redirect URI within the limits is shown with 200 characters of it.
    @Test func `a redirect URI of 20 KB is shortened on the error page`() async throws {
        try await Site.run { site, clientID in
            let form = FormParameters([
                "response_type": "code", "client_id": clientID, "scope": "photos.read", "state": "xyz",
                "redirect_uri": "http://127.0.0.1/callback" + String(repeating: "a", count: 20_000),
            ]).encoded
            let answer = try await RawConnection.exchange(
                "GET /oauth2/authorize?\(form) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                port: site.port)
            #expect(RawConnection.status(of: answer) == 400)
            #expect(answer.contains("callbackaaaa"))
            #expect(!answer.contains(String(repeating: "a", count: 200)))
            try await site.expectAlive()
        }
    }

    @Test(arguments: [100_000, 1_000_000])
    func `a header field that is too long is refused`(length: Int) async throws {
        try await Site.runEmpty { site in
            let answer = try await RawConnection.exchange(
                "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: \(String(repeating: "a", count: length))\r\n"
                    + "Connection: close\r\n\r\n", port: site.port)
            #expect([400, 431].contains(RawConnection.status(of: answer)), "\(answer.prefix(40))")
            try await site.expectAlive()
        }
    }

    @Test func `too many header fields are refused`() async throws {
        try await Site.runEmpty { site in
            let fields = (0..<1000).map { "X-\($0): 1\r\n" }.joined()
            let answer = try await RawConnection.exchange(
                "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields)Connection: close\r\n\r\n", port: site.port)
            #expect([400, 431].contains(RawConnection.status(of: answer)), "\(answer.prefix(40))")
            try await site.expectAlive()
        }
    }

    @Test(arguments: [
        "HELLO\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "POST /oauth2/token HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /oauth2/token HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /oauth2/token HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnot a length\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{FC}\u{3}\u{3}",
    ])
    func `a request that is not HTTP is refused, and the connection is closed`(bytes: String) async throws {
        try await Site.runEmpty { site in
            let answer = try await RawConnection.exchange(bytes, port: site.port)
            #expect((400..<600).contains(RawConnection.status(of: answer) ?? 0), "\(answer.prefix(40))")
            try await site.expectAlive()
        }
    }

    @Test func `an incomplete request delays no other client`() async throws {
        try await Site.run { site, clientID in
            let request = ClientAuthorizationRequest(site, clientID)
            try await RawConnection.run(port: site.port) { slow in
                try await slow.send(
                    "POST /oauth2/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\ngrant")
                var browser = UserAgent()
                let consent = try await Account.alice.signIn(request.url, in: &browser)
                let proceed = try await browser.submit(try consent.form(withButton: "allow"), ["decision": "allow"])
                #expect(try await request.redeem(try proceed.code).status == 200)

                // The rest of the body can still arrive.
                try await slow.send(String(repeating: "a", count: 995))
                #expect(try await slow.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
            }
        }
    }

    @Test(arguments: [
        "application/json", "multipart/form-data; boundary=x", "text/plain",
        "application/x-www-form-urlencoded; charset=utf-16",
    ])
    func `a token request that is not a form is refused, in JSON`(type: String) async throws {
        try await Site.runEmpty { site in
            var agent = UserAgent()
            let answer = try await agent.send(
                .post, site.issuer + "/oauth2/token", headers: ["content-type": type], body: Array("grant_type=x".utf8))
            #expect(answer.status == 400)
            #expect(answer.header("content-type") == "application/json")
            #expect(answer.body.contains("\"error\":\"invalid_request\""))
        }
    }
}

extension Site {
    /// Expects that the server still responds.
    func expectAlive() async throws {
        var agent = UserAgent()
        #expect(try await agent.open(issuer + "/readyz").status == 200)
    }
}
