import CounterfoilClient
import CounterfoilProtocol
import Testing

/// Tests of the receiver over real sockets.
///
/// Its attempt belongs to a server that receives no request.
@Suite(.timeLimit(.minutes(2)))
struct LoopbackReceiverTests {
    private func attempt(for receiver: LoopbackReceiver) throws -> AuthorizationAttempt {
        try AuthorizationAttempt.unasked(redirectURI: receiver.redirectURI)
    }

    private func port(of receiver: LoopbackReceiver) throws -> Int { try #require(receiver.redirectURI.uri.port) }

    private func query(_ attempt: borrowing AuthorizationAttempt, _ rest: String = "code=c0de") throws -> String {
        "\(rest)&state=\(try attempt.state())"
    }

    private func get(_ target: String, host: String? = nil, method: String = "GET", port: Int, isIPv6: Bool = false)
        throws
        -> String
    {
        let host = host ?? "127.0.0.1:\(port)"
        return try RawConnection.exchange(
            "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n", port: port, isIPv6: isIPv6)
    }

    @Test func `the receiver listens on one port of both address families and releases both`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let port = try port(of: receiver)
        #expect(receiver.redirectURI.rawValue == "http://127.0.0.1:\(port)/callback")
        #expect(RawConnection.isOpen(port: port))
        #expect(RawConnection.isOpen(port: port, isIPv6: true))
        await receiver.close()
        #expect(!RawConnection.isOpen(port: port))
        #expect(!RawConnection.isOpen(port: port, isIPv6: true))
    }

    @Test func `the response ends the wait, and the page says that the window can be closed`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let attempt = try attempt(for: receiver)
        receiver.expect(attempt.expectation)
        let page = try get("/callback?\(query(attempt))", port: port(of: receiver))
        let callback = try await receiver.callback(within: .seconds(60))
        _ = try attempt.complete(with: callback)
        #expect(page.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(page.contains("You can close this tab"))
        #expect(!page.contains("c0de"))
        for header in [
            "Cache-Control: no-store", "Content-Security-Policy: default-src 'none'; style-src 'sha256-",
            "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff", "X-Frame-Options: DENY",
        ] { #expect(page.contains(header)) }
        await receiver.close()
    }

    // Requests that are not the response, and then the response.
    @Test func `requests for other paths, icons and other methods do not end the wait`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let port = try port(of: receiver)
        let attempt = try attempt(for: receiver)
        let query = try query(attempt)
        #expect(try get("/callback?\(query)", port: port).hasPrefix("HTTP/1.1 400 "), "before anything is awaited")
        receiver.expect(attempt.expectation)

        let turnedAway: [(target: String, method: String, host: String?, status: Int)] = [
            ("/favicon.ico", "GET", nil, 404), ("/", "GET", nil, 404), ("/callback/", "GET", nil, 404),
            ("/Callback?\(query)", "GET", nil, 404), ("/callbac%6B?\(query)", "GET", nil, 404),
            ("/callback?\(query)", "HEAD", nil, 405), ("/callback?\(query)", "POST", nil, 405),
            ("/callback?\(query)", "OPTIONS", nil, 405),
            ("/callback?\(query)", "GET", "evil.example.com:\(port)", 400),
            ("/callback?\(query)", "GET", "127.0.0.1", 400), ("/callback?\(query)", "GET", "localhost:\(port)", 400),
            ("/callback?\(query)", "GET", "127.0.0.1:\(port)\r\nHost: 127.0.0.1:\(port)", 400),
            ("/callback", "GET", nil, 400), ("/callback?code=c0de", "GET", nil, 400),
            ("/callback?code=c0de&state=guess", "GET", nil, 400), ("/callback?\(query)&state=again", "GET", nil, 400),
            ("/callback?error=access_denied&state=guess", "GET", nil, 400),
            ("/callback?\(query)&x=%zz", "GET", nil, 400),
            ("/callback?\(query)&x=\(String(repeating: "a", count: 40_000))", "GET", nil, 414),
        ]
        for request in turnedAway {
            let answer = try get(request.target, host: request.host, method: request.method, port: port)
            #expect(answer.hasPrefix("HTTP/1.1 \(request.status) "), "\(request.method) \(request.target.prefix(60))")
            if request.method == "HEAD" { #expect(answer.hasSuffix("\r\n\r\n")) }
        }
        #expect(try get("/callback?\(query)", port: port).hasPrefix("HTTP/1.1 200 "))
        _ = try attempt.complete(with: try await receiver.callback(within: .seconds(60)))
        await receiver.close()
    }

    @Test func `silent, slow and invalid connections do not block the response`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let port = try port(of: receiver)
        let attempt = try attempt(for: receiver)
        receiver.expect(attempt.expectation)
        let silent = try RawConnection(port: port)
        let slow = try RawConnection(port: port)
        slow.send("GET /callback?code=")
        let senseless = try RawConnection(port: port)
        senseless.send("\u{16}\u{3}\u{1}\u{2} not HTTP at all\r\n\r\n")
        for _ in 0..<150 { _ = try RawConnection(port: port) }
        #expect(try get("/callback?\(query(attempt))", port: port).hasPrefix("HTTP/1.1 200 "))
        _ = try await receiver.callback(within: .seconds(60))
        await receiver.close()
        // Closing the port closes these connections too.
        #expect(silent.rest().isEmpty)
        _ = slow.rest()
        _ = senseless.rest()
    }

    @Test func `only one response is accepted, and later ones get a page that says so`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let port = try port(of: receiver)
        let attempt = try attempt(for: receiver)
        receiver.expect(attempt.expectation)
        let query = try query(attempt)
        let statuses = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 {
                group.addTask { String(try get("/callback?\(query)", port: port).prefix(12)) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == "HTTP/1.1 200" } == 1)
        #expect(statuses.count { $0 == "HTTP/1.1 410" } == 19)
        _ = try await receiver.callback(within: .seconds(60))
        await receiver.close()
    }

    @Test(arguments: ["code=a&code=b", "code=a&error=access_denied", "", "code=a&iss=https://evil.example.com"])
    func `an unsafe response ends the wait, and its page says so`(rest: String) async throws {
        let receiver = try await LoopbackReceiver.listen()
        let attempt = try attempt(for: receiver)
        receiver.expect(attempt.expectation)
        let page = try get("/callback?\(query(attempt, rest))", port: port(of: receiver))
        #expect(page.hasPrefix("HTTP/1.1 400 "))
        #expect(page.contains("could not be trusted"))
        let callback = try await receiver.callback(within: .seconds(60))
        let refused = attempt.refusal(of: callback)
        #expect(refused != nil)
        await receiver.close()
    }

    @Test func `an error response has its own page`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let attempt = try attempt(for: receiver)
        receiver.expect(attempt.expectation)
        let page = try get(
            "/callback?\(query(attempt, "error=access_denied&error_description=%3Cscript%3E"))",
            port: port(of: receiver))
        #expect(page.contains("Access was denied"))
        #expect(!page.contains("<script>"))
        let callback = try await receiver.callback(within: .seconds(60))
        let refused = attempt.refusal(of: callback)
        #expect(refused == .refused(OAuthError(.accessDenied, "<script>")))
        await receiver.close()
    }

    @Test func `the port is closed when the wait times out`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let port = try port(of: receiver)
        await #expect(throws: SignInError.timedOut) { try await receiver.callback(within: .milliseconds(20)) }
        #expect(!RawConnection.isOpen(port: port))
    }

    @Test func `cancelling the wait closes the port`() async throws {
        let receiver = try await LoopbackReceiver.listen()
        let port = try port(of: receiver)
        let wait = Task { try await receiver.callback(within: .seconds(60)) }
        wait.cancel()
        await #expect(throws: SignInError.cancelled) { try await wait.value }
        #expect(!RawConnection.isOpen(port: port))
    }

    @Test(arguments: [
        ("http://127.0.0.1", false), ("http://127.0.0.1/", false), ("http://127.0.0.1/a/b?tenant=x%20y", false),
        ("http://[::1]/cb", true), ("http://localhost/cb", false), ("http://localhost/cb", true),
    ])
    func `a registered redirect URI is kept byte for byte, with a free port`(registered: String, isIPv6: Bool)
        async throws
    {
        let receiver = try await LoopbackReceiver.listen(at: LoopbackRedirectURI(registered))
        let port = try port(of: receiver)
        #expect(receiver.redirectURI.uri.withoutPort == registered)
        let attempt = try attempt(for: receiver)
        receiver.expect(attempt.expectation)
        let uri = receiver.redirectURI.uri
        let target = (uri.path.isEmpty ? "/" : uri.path) + "?" + (uri.query.map { "\($0)&" } ?? "")
        if uri.query != nil {
            let page = try get(
                "\(uri.path)?\(query(attempt))", host: "\(uri.host ?? ""):\(port)", port: port, isIPv6: isIPv6)
            #expect(page.hasPrefix("HTTP/1.1 400 "))
        }
        let page = try get(
            "\(target)\(query(attempt))", host: "\(uri.host ?? ""):\(port)", port: port, isIPv6: isIPv6)
        #expect(page.hasPrefix("HTTP/1.1 200 "))
        _ = try attempt.complete(with: try await receiver.callback(within: .seconds(60)))
        await receiver.close()
    }

    @Test func `a port is never shared, and the next registered one is used`() async throws {
        let first = try await LoopbackReceiver.listen()
        let port = try port(of: first)
        let fixed = try LoopbackRedirectURI("http://127.0.0.1:\(port)/callback")
        await #expect(throws: SignInError.cannotListen("another program uses port \(port)")) {
            try await LoopbackReceiver.listen(at: fixed)
        }
        let free = try await UnassignedPort.one()
        let second = try await LoopbackReceiver.listen(at: fixed.tryingPorts([port, free]))
        #expect(try self.port(of: second) == free)
        await second.close()
        await first.close()
    }

    @Test func `a fixed port can be used again at once`() async throws {
        let port = try await UnassignedPort.one()
        let uri = try LoopbackRedirectURI("http://127.0.0.1:\(port)/callback")
        let first = try await LoopbackReceiver.listen(at: uri)
        _ = try get("/callback", port: port)
        await first.close()
        let second = try await LoopbackReceiver.listen(at: uri)
        await second.close()
    }

    @Test(arguments: [
        "https://127.0.0.1/cb", "http://example.com/cb", "com.example.app:/cb", "http://127.0.0.1/#x", "cb",
    ])
    func `a redirect URI that is not on loopback is refused`(text: String) {
        #expect(throws: LoopbackRedirectURI.Refusal.self) { try LoopbackRedirectURI(text) }
    }
}
