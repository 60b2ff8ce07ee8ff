import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The pushed authorization request endpoint (RFC 9126 §2).
struct PushedAuthorizationEndpointTests {
    // RFC 9126 §2.2: the reference cannot be guessed, and is short-lived.
    @Test func `a pushed request gets a reference of 256 random bits for 60 seconds`() async throws {
        let attempt = Attempt(try await TestServer())
        var references: Set<String> = []
        for _ in 0..<2 {
            let reply = await attempt.push()
            #expect(reply.status == .created)
            #expect(reply.fields[.cacheControl] == "no-store")
            #expect(try reply.members.keys.sorted() == ["expires_in", "request_uri"])
            #expect(try reply.members["expires_in"] as? Int == 60)
            let reference = try #require(try reply.members["request_uri"] as? String)
            #expect(reference.hasPrefix("urn:ietf:params:oauth:request_uri:"))
            #expect(Base64URL.decode(String(reference.dropFirst(PushedRequestURI.prefix.count)))?.count == 32)
            references.insert(reference)
        }
        #expect(references.count == 2)
    }

    // RFC 9126 §2: the client authenticates as at the token endpoint.
    @Test func `a confidential client must authenticate`() async throws {
        let party = try await RelyingParty()
        let attempt = party.attempt()
        let anonymous = await attempt.push()
        #expect(anonymous.status == .unauthorized)
        #expect(anonymous.fields[.wwwAuthenticate]?.hasPrefix("Basic") == true)
        #expect(try anonymous.tokenError.error == "invalid_client")
        let wrong = await attempt.push(fields: .basic(party.client.id, ClientSecret()))
        #expect(wrong.status == .unauthorized)
        #expect(await attempt.push(fields: [.authorization: party.basic]).status == .created)
        #expect(await attempt.adding("client_secret", party.secret.exposed).push().status == .created)
        #expect(await attempt.with("client_id", "app_unknown").push().status == .badRequest)
    }

    @Test func `the credentials of the client are not stored`() async throws {
        let party = try await RelyingParty()
        let pushed = try await PushedAttempt(
            party.attempt().adding("client_secret", party.secret.exposed).adding("client_assertion", ""))
        let stored = try await party.test.store.openPushedRequest(
            try pushed.digest, of: party.client.id, at: party.test.clock.now, until: party.test.clock.now)
        let parameters = try #require(stored?.parameters)
        let sent = pushed.attempt.request.pairs.filter { !["client_secret", "client_assertion"].contains($0.name) }
        #expect(parameters == FormParameters(sent).encoded)
        #expect(!parameters.contains("client_secret"))
    }

    // RFC 9126 §2.1
    @Test(arguments: ["https://x.example/r", "urn:ietf:params:oauth:request_uri:x"])
    func `a request_uri inside is refused`(reference: String) async throws {
        let attempt = Attempt(try await TestServer()).with("request_uri", reference)
        #expect(try await attempt.pushError() == .invalidRequest)
    }

    // RFC 9126 §2.1 and §2.3: neither endpoint accepts what the other refuses.
    @Test(arguments: [
        ("response_type", "token"), ("response_type", nil), ("response_type", "code id_token"),
        ("response_mode", "fragment"), ("scope", "photos.delete"), ("scope", "a\"b"), ("code_challenge", nil),
        ("code_challenge_method", "plain"), ("code_challenge_method", nil), ("code_challenge", "short"),
        ("request", "eyJhbGciOiJub25lIn0.e30."), ("registration", "{}"), ("prompt", "none login"), ("max_age", "-1"),
        ("claims", "["), ("id_token_hint", "x"), ("resource", "https://unknown.example.com"), ("resource", "x#y"),
        ("nonce", String(repeating: "n", count: 5000)),
    ])
    func `a request is refused with the same error as at the authorization endpoint`(
        name: String, value: String?
    ) async throws {
        let attempt = Attempt(try await TestServer(), for: "photos.read openid").with(name, value)
        let code = try await attempt.error().code
        #expect(try await attempt.pushError() == code)
    }

    @Test func `a state that is too long is refused`() async throws {
        let state = String(repeating: "s", count: OAuthState.byteLimit + 1)
        let attempt = Attempt(try await TestServer()).with("state", state)
        #expect(try await attempt.pushError() == .invalidRequest)
    }

    // RFC 9126 §2.4: the server does not accept other redirect URIs for pushed requests.
    @Test(arguments: ["https://evil.example/cb", "http://127.0.0.1/other", "javascript:alert(1)", "x"])
    func `a redirect URI that is not registered is refused`(redirectURI: String) async throws {
        let test = try await TestServer()
        #expect(try await Attempt(test, at: redirectURI).pushError() == .invalidRequest)
        let party = try await RelyingParty()
        let attempt = party.attempt(with: ["redirect_uri": redirectURI])
        #expect(try await attempt.pushError(fields: [.authorization: party.basic]) == .invalidRequest)
    }

    // RFC 6749 §3.1
    @Test(arguments: ["client_id", "redirect_uri", "scope", "state", "code_challenge", "response_type"])
    func `a repeated parameter is refused`(name: String) async throws {
        let attempt = Attempt(try await TestServer())
        #expect(try await attempt.adding(name, attempt.request.value(name) ?? "").pushError() == .invalidRequest)
    }

    // RFC 9126 §2.1: client_id is a required parameter of an authorization request.
    @Test func `client_id is required and must be that of the authenticated client`() async throws {
        let party = try await RelyingParty()
        let fields: HTTPFields = [.authorization: party.basic]
        #expect(try await party.attempt(with: ["client_id": nil]).pushError(fields: fields) == .invalidRequest)
        let other = party.attempt(with: ["client_id": party.test.lightbox.id.rawValue])
        #expect(try await other.pushError(fields: fields) == .invalidRequest)
    }

    @Test func `a service cannot push authorization requests`() async throws {
        let test = try await TestServer()
        let service = try await test.addService()
        let attempt = Attempt(test, by: service.client)
        #expect(try await attempt.pushError(fields: service.fields) == .unauthorizedClient)
    }

    // RFC 6749 §2.3.1
    @Test func `parameters in the URL and other bodies are ignored`() async throws {
        let attempt = Attempt(try await TestServer())
        let test = attempt.test
        let empty = await test.post(FormParameters(), to: .pushedAuthorization, query: attempt.request.encoded)
        #expect(try empty.tokenError.error == "invalid_request")
        let json = await test.send(
            .post, to: .pushedAuthorization, fields: [.contentType: "application/json"], body: Array("{}".utf8))
        #expect(try json.tokenError.error == "invalid_request")
        #expect(await attempt.push(query: "request_uri=x&client_id=app_unknown").status == .created)
    }

    // RFC 9126 §2.3
    @Test(arguments: [HTTPRequest.Method.get, .put, .delete, .head])
    func `a method other than POST gets 405`(method: HTTPRequest.Method) async throws {
        let attempt = Attempt(try await TestServer())
        let reply = await attempt.test.send(method, to: .pushedAuthorization, query: attempt.request.encoded)
        #expect(reply.status == .methodNotAllowed)
        #expect(reply.fields[.allow] == "POST")
    }

    // RFC 9126 §2.3: the limit of one address does not affect another one.
    @Test func `too many requests that are not completed get 429`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        for _ in 0..<500 { #expect(await attempt.push().status == .created) }
        test.clock.advance(by: 20)
        let reply = await attempt.push()
        #expect(reply.status == .tooManyRequests)
        #expect(reply.fields[.retryAfter] == "40")
        #expect(try reply.tokenError.error == "temporarily_unavailable")
        #expect(await attempt.push(source: "198.51.100.7").status == .created)
        test.clock.advance(by: 40)
        #expect(await attempt.push().status == .created)
    }

    // RFC 9126 §2: single-page apps push requests, too.
    @Test func `scripts of the registered origins of the client can read the response`() async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Album", type: .singlePage, redirectURIs: ["https://app.example/cb"], origins: ["https://app.example"])
        let attempt = Attempt(test, by: client, at: "https://app.example/cb")
        for (sent, allowed) in [("https://app.example", "https://app.example"), ("https://evil.example", nil)] {
            let fields: HTTPFields = [.origin: sent]
            for reply in [await attempt.push(fields: fields), await attempt.with("scope", "x").push(fields: fields)] {
                #expect(reply.fields[.accessControlAllowOrigin] == allowed)
            }
        }
    }

    @Test func `a fault of the store is reported and nothing is stored`() async throws {
        let store = TestStore()
        let attempt = Attempt(try await TestServer(store: store))
        store.fail(.addPushedRequest)
        let reply = await attempt.push()
        #expect(reply.status == .serviceUnavailable)
        #expect(try reply.tokenError.error == "temporarily_unavailable")
    }
}

extension FormParameters {
    /// The first value of a parameter; nil if there is none.
    func value(_ name: String) -> String? { pairs.first { $0.name == name }?.value }
}
