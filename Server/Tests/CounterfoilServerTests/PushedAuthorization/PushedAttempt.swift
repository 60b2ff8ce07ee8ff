import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// An authorization request that a client has pushed, and the request with which a browser opens it.
struct PushedAttempt: Sendable {
    let attempt: Attempt
    let requestURI: String
    /// The parameters that the browser brings, which a test can change.
    var query: FormParameters

    /// Pushes the request of an attempt.
    init(_ attempt: Attempt, fields: HTTPFields = [:]) async throws {
        let reply = await attempt.push(fields: fields)
        #expect(reply.status == .created)
        self.attempt = attempt
        requestURI = try #require(try reply.members["request_uri"] as? String)
        query = FormParameters(["client_id": attempt.client.id.rawValue, "request_uri": requestURI])
    }

    var test: TestServer { attempt.test }

    var url: String { test.issuer.endpoint("/oauth2/authorize") + "?" + query.encoded }

    /// The digest of the stored request.
    var digest: ArtefactDigest {
        get throws { ArtefactDigest(of: try #require(PushedRequestURI(requestURI))) }
    }

    /// Returns the request as the browser of another client brings it, or with another parameter changed.
    func with(_ name: String, _ value: String?) -> PushedAttempt {
        var changed = self
        changed.query = query.setting(name, to: value)
        return changed
    }

    /// Opens the request in a new browser, and returns the first reply.
    func firstReply() async throws -> Reply {
        var browser = test.browser()
        return try await browser.open(url)
    }

    /// Opens the request in a browser, signs in as alice, presses a button on each page, and returns the last reply.
    func authorize(
        with browser: inout ScriptedUserAgent, decision: ScriptedUserAgent.Decision = .allow
    ) async throws -> Reply {
        try await browser.authorize(url, username: "alice", password: TestServer.password, decision: decision)
    }

    /// Opens the request in a new browser, signs in as alice, presses a button on each page, and returns the last
    /// reply.
    func authorize(decision: ScriptedUserAgent.Decision = .allow) async throws -> Reply {
        var browser = test.browser()
        return try await authorize(with: &browser, decision: decision)
    }

    /// Expects an error page, and no response to the client (RFC 9126 §4).
    func expectGone(_ reply: Reply) throws {
        #expect(reply.status == .badRequest)
        #expect(reply.location == nil)
        let page = try reply.problemPage
        #expect(page.title == "This request has expired or was already answered")
        #expect(page.advice == "Go back to the app and start again.")
        #expect(page.developer?.advice?.contains("request_uri") == true)
        #expect(test.log.lines.contains { $0.contains("\"error\": invalid_request_uri") })
        // The reference can be used until it expires, so the log must not contain it.
        #expect(!test.log.lines.contains { $0.contains(requestURI) })
    }
}

extension Attempt {
    /// Pushes the request of the attempt, and returns the response.
    func push(fields: HTTPFields = [:], query: String? = nil, source: String = "192.0.2.1") async -> Reply {
        await test.post(request, to: .pushedAuthorization, fields: fields, query: query, source: source)
    }

    /// Pushes the request of the attempt, and returns the error.
    func pushError(fields: HTTPFields = [:]) async throws -> OAuthError.Code {
        let reply = await push(fields: fields)
        #expect(reply.status == .badRequest)
        return OAuthError.Code(rawValue: try reply.tokenError.error)
    }
}
