import CounterfoilProtocol
import HTTPTypes
import TestSupport
import Testing

/// Request bodies that the server does not read or store before it has checked the request.
@Suite(.timeLimit(.minutes(10)))
struct RequestBodyTests {
    private static func head(_ path: String, length: Int, fields: String = "") -> String {
        "POST \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            + "Content-Length: \(length)\r\n\(fields)\r\n"
    }

    @Test(arguments: ["/admin/branding", "/apps/app_lightbox/logo", "/apps/new", "/account/password"])
    func `a large form without a session gets a response before its body is read`(path: String) async throws {
        try await Site.runEmpty { site in
            let answer = try await RawConnection.run(port: site.port) { connection in
                try await connection.send(Self.head(path, length: 100_000) + "name=x")
                return try await connection.receive(until: "\r\n\r\n")
            }
            #expect(RawConnection.status(of: answer) == 303)
            #expect(answer.contains("/sign-in?to="))
        }
    }

    @Test func `a large chunked form without a session gets a response before its body is read as well`() async throws {
        try await Site.runEmpty { site in
            let answer = try await RawConnection.run(port: site.port) { connection in
                try await connection.send(
                    "POST /admin/branding HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
                return try await connection.receive(until: "\r\n\r\n")
            }
            #expect(RawConnection.status(of: answer) == 303)
        }
    }

    @Test func `the connection stays open after a large form without a session`() async throws {
        try await Site.runEmpty { site in
            let form = Self.head("/apps/new", length: 100_000) + String(repeating: "a", count: 100_000)
            let health = "GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
            let answers = try await RawConnection.exchange(form + form + health, port: site.port)
            #expect(answers.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.output.1) } == ["303", "303", "200"])
        }
    }

    @Test func `an upload by an administrator is read`() async throws {
        try await Site.make { site in
            let ada = ["user", "create", "ada", "--role", "owner", "--password-stdin"]
            #expect(try await site.administer(ada, input: Account.alice.password + "\n").status == 0)
            try await site.add(.alice)
            try await site.serving {
                var browser = UserAgent()
                let signIn = try await browser.open(site.issuer + "/sign-in?to=/admin/branding")
                let page = try await browser.submit(
                    try signIn.form(with: "password"), ["username": "ada", "password": Account.alice.password])
                let form = try page.form(withButton: "save")
                var body = ""
                for (name, value) in form.hidden + [("decision", "save"), ("site_name", "Example Prints")] {
                    body += "--x\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
                }
                body += "--x\r\nContent-Disposition: form-data; name=\"logo\"; filename=\"a.png\"\r\n"
                body += "Content-Type: image/png\r\n\r\n" + String(repeating: "a", count: 400_000) + "\r\n--x--\r\n"
                let headers = ["content-type": "multipart/form-data; boundary=x", "sec-fetch-site": "same-origin"]
                let url = site.issuer + "/admin/branding"
                let answer = try await browser.send(.post, url, headers: headers, body: Array(body.utf8))
                #expect(answer.status == 400)
                #expect(answer.body.contains("be used as a logo"))

                // Another user who is signed in gets the same response as a user without a session.
                var other = UserAgent()
                _ = try await Account.alice.signIn(site.issuer + "/account", in: &other)
                let refused = try await other.send(.post, url, headers: headers, body: Array(body.utf8))
                #expect(refused.status == 404)
            }
        }
    }

    @Test func `a body with too large a Content-Length is refused before it arrives`() async throws {
        try await Site.runEmpty { site in
            for length in [50_000, 50_000_000] {
                let answer = try await RawConnection.run(port: site.port) { connection in
                    try await connection.send(Self.head("/oauth2/token", length: length) + "grant_type=")
                    return try await connection.receive(until: "\r\n\r\n")
                }
                #expect(RawConnection.status(of: answer) == 413)
                #expect(answer.lowercased().contains("\r\nconnection: close\r\n") == (length > 1 << 20))
            }
        }
    }

    @Test(arguments: [0, 10, 40_000, 300_000, 3_000_000])
    func `a form to an unknown path is a plain 404, whatever its size`(length: Int) async throws {
        try await Site.runEmpty { site in
            let body = String(repeating: "a", count: length)
            let request = Self.head("/nothing", length: length, fields: "Connection: close\r\n") + body
            let answer = try await RawConnection.exchange(request, port: site.port)
            #expect(RawConnection.status(of: answer) == 404)
            #expect(answer.contains("Page not found"))
            try await site.expectAlive()
        }
    }

    @Test(arguments: ["/livez", "/account", "/oauth2/jwks", "/"])
    func `a form to an endpoint without POST gets 405, whatever its size`(path: String) async throws {
        try await Site.runEmpty { site in
            for length in [0, 10, 300_000] {
                let body = String(repeating: "a", count: length)
                let request = Self.head(path, length: length, fields: "Connection: close\r\n") + body
                let answer = try await RawConnection.exchange(request, port: site.port)
                #expect(RawConnection.status(of: answer) == 405)
            }
        }
    }

    // One IP address can make the server hold 8 MiB at most.
    @Test func `slow uploads of one address are refused when they use too much memory, and others are not`()
        async throws
    {
        try await Site.runEmpty { site in
            let (length, port) = (128 * 1024, site.port)
            let upload = Self.head("/oauth2/authorize/sign-in", length: length)
            let statuses = try await withThrowingTaskGroup(of: Int?.self, returning: [Int?].self) { group in
                for _ in 0..<80 {
                    group.addTask {
                        try await RawConnection.run(port: port, from: "127.0.0.2") { connection in
                            try await connection.send(upload + String(repeating: "a", count: length - 10))
                            return RawConnection.status(of: try await connection.receive(until: "\r\n\r\n"))
                        }
                    }
                }
                try await Task.sleep(for: .seconds(2))
                let other = try await RawConnection.exchange(
                    Self.head("/oauth2/authorize/sign-in", length: length, fields: "Connection: close\r\n")
                        + String(repeating: "a", count: length), port: port, from: "127.0.0.3")
                #expect((400..<404).contains(RawConnection.status(of: other) ?? 0), "\(other.prefix(20))")
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 503 } > 5)
            #expect(statuses.count { $0 == 408 } > 50)
            try await site.expectAlive()
        }
    }
}
