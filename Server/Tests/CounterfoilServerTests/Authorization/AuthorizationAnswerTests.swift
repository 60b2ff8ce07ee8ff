import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The parameters of an authorization response, and how it is sent (RFC 6749 §4.1.2).
struct AuthorizationAnswerTests {
    private static let address = "https://app.example/cb"

    /// The codes of RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6, RFC 8707 §2 and OpenID Connect Unmet
    /// Authentication Requirements.
    private static let errors: Set<String> = [
        "invalid_request", "unauthorized_client", "access_denied", "unsupported_response_type", "invalid_scope",
        "server_error", "temporarily_unavailable", "interaction_required", "login_required",
        "account_selection_required", "consent_required", "invalid_request_uri", "invalid_request_object",
        "request_not_supported", "request_uri_not_supported", "registration_not_supported", "invalid_target",
        "unmet_authentication_requirements",
    ]

    /// The parameters of the response, in order.
    private static func parameters(of reply: Reply) throws -> [FormParameters.Pair] {
        let parts = try reply.destination.split(separator: "?", maxSplits: 1)
        #expect(parts.count == 2)
        return try FormParameters(parsing: String(parts[1])).pairs
    }

    private static func client(_ test: TestServer, isFirstParty: Bool = false) async throws -> RegisteredClient {
        try await test.register("Darkroom", redirectURIs: [address], isFirstParty: isFirstParty)
    }

    // RFC 6749 §3.1: a parameter without a value is treated as absent.
    @Test(arguments: [
        "redirect_uri", "scope", "state", "nonce", "prompt", "max_age", "login_hint", "acr_values", "response_mode",
        "ui_locales", "claims_locales", "display", "id_token_hint", "claims", "resource", "request", "request_uri",
        "registration", "extra",
    ])
    func `a parameter without a value is treated as absent`(name: String) async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, by: try await Self.client(test), at: Self.address).with(name, "")
        let reply = try await attempt.authorize()
        #expect(try reply.destination.hasPrefix(Self.address + "?code="))
        #expect(try reply.authorizationResponse.state?.exposed == (name == "state" ? nil : "af0ifjsldkj"))
        #expect(try !reply.destination.contains("state=&") && !reply.destination.hasSuffix("state="))
        let tokens = try await test.redeem(attempt.exchange(try reply.code)).tokenResponse
        #expect(tokens.scope?.description == (name == "scope" ? "photos.read photos.write" : "photos.read"))
    }

    // A required parameter without a value is missing.
    @Test(arguments: ["response_type", "code_challenge", "code_challenge_method"])
    func `a required parameter without a value is missing`(name: String) async throws {
        let attempt = Attempt(try await TestServer())
        let refusals = [try await attempt.with(name, "").error(), try await attempt.with(name, nil).error()]
        #expect(refusals.allSatisfy { $0.code == .invalidRequest && $0.description?.isEmpty == false })
        #expect(refusals[0].description == refusals[1].description)
    }

    // RFC 6749 §4.1.2.1: for every error, however the state is written.
    @Test(
        arguments: [
            ("response_type", nil), ("response_type", "tok\"en\\é"), ("scope", "é\"\\"), ("scope", "photos.delete"),
            ("code_challenge", nil), ("code_challenge", "\"\\é"), ("code_challenge_method", "pl\"ain\r\n"),
            ("prompt", "none"), ("prompt", "none login"), ("max_age", "\u{7}\\"), ("request", "\"x\""),
            ("request_uri", "urn:x\\"), ("registration", "{\"a\":1}"), ("response_mode", "frag\"ment"),
            ("resource", "javascript:\"é\""), ("claims", "[\"\\"), ("id_token_hint", "\"é\\"),
            ("claims", #"{"id_token":{"acr":{"essential":true,"value":"x\"\\é"}}}"#),
        ] as [(String, String?)],
        ["af0ifjsldkj", nil]
    )
    func `an error has a code of the standards, the state that was sent, and a plain description`(
        wrong: (name: String, value: String?), state: String?
    ) async throws {
        let attempt = Attempt(try await TestServer(), for: "openid").with("state", state)
            .with(wrong.name, wrong.value)
        let reply = try await attempt.firstReply()
        #expect(reply.status == .seeOther)
        let parameters = try Self.parameters(of: reply)
        let names = parameters.map(\.name)
        #expect(names.count == Set(names).count)
        #expect(Set(names).isSubset(of: ["error", "error_description", "state", "iss"]))
        #expect(Self.errors.contains(try #require(parameters.first { $0.name == "error" }?.value)))
        #expect(parameters.first { $0.name == "state" }?.value == state)
        let description = parameters.first { $0.name == "error_description" }?.value ?? ""
        #expect(description.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
    }

    // A response contains the code, the state and the issuer; the code is random bytes and encodes no
    // challenge.
    @Test(arguments: ["query", "form_post"])
    func `a response does not reveal the challenge`(mode: String) async throws {
        let attempt = Attempt(try await TestServer()).with("response_mode", mode)
        let reply = try await attempt.authorize()
        #expect(try Self.parameters(of: reply).map(\.name) == ["code", "state", "iss"])
        let challenge = CodeChallenge(of: attempt.verifier).rawValue
        #expect(try !reply.destination.contains(challenge))
        let code = try #require(Base64URL.decode(try reply.code.exposed))
        #expect(code.count == 32)
        #expect(code != Base64URL.decode(challenge))
        let again = try await attempt.authorize()
        #expect(try again.code != reply.code)
    }

    // RFC 9700 §4.12: with 307 or 308, a browser would send the form with the password to the
    // redirect URI.
    @Test func `a redirect never repeats a form`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, by: try await Self.client(test), at: Self.address)
        var browser = test.browser()
        let asked = try await browser.send(.post, to: "/oauth2/authorize", form: attempt.request)
        #expect(asked.status == .seeOther)
        let signIn = try await browser.open(try #require(asked.location)).signInPage
        let form = signIn.form(username: "alice", password: TestServer.password)
        let signedIn = try await browser.send(.post, to: signIn.action, form: form)
        #expect(signedIn.status == .seeOther)
        let address = try #require(signedIn.location)
        for decision in ScriptedUserAgent.Decision.allCases {
            let page = try await browser.open(address).consentPage
            let isSwitch = decision == .switchAccount
            let action = isSwitch ? page.switchAccountAction : page.action
            let reply = try await browser.send(.post, to: action, form: page.form(decision))
            #expect(reply.status == (isSwitch ? .seeOther : .ok))
            #expect((reply.location != nil) == isSwitch)
        }
    }

    // Also without a page, and for refusals.
    @Test func `a response without a page is a 303`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test, by: try await Self.client(test, isFirstParty: true), at: Self.address)
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser)
        for request in [attempt, attempt.with("scope", "unknown")] {
            let reply = try await browser.send(.post, to: "/oauth2/authorize", form: request.request)
            #expect(reply.status == .seeOther)
            #expect(try #require(reply.location).hasPrefix(Self.address + "?"))
        }
        var visitor = test.browser()
        let page = try await visitor.open("/sign-in?to=/account").signInPage
        let form = page.form(username: "alice", password: TestServer.password)
        #expect(try await visitor.send(.post, to: page.action, form: form).status == .seeOther)
    }

    // RFC 9700 §4.1.3: everything is in the query; no fragment is added, which a client could mistake for its own.
    @Test(arguments: ["https://app.example/cb", "http://127.0.0.1:51004/callback", "com.example.app:/cb"])
    func `a response has no fragment`(address: String) async throws {
        let test = try await TestServer()
        for isFirstParty in [false, true] {
            let client = try await test.register(
                isFirstParty ? "Own" : "Other", redirectURIs: [address.replacing(":51004", with: "")],
                isFirstParty: isFirstParty)
            let attempt = Attempt(test, by: client, at: address)
            for reply in [try await attempt.authorize(), try await attempt.with("scope", "unknown").firstReply()] {
                #expect(try reply.destination.hasPrefix(address + "?"))
                #expect(try !reply.destination.contains("#"))
            }
        }
    }

    // RFC 6749 §4.1.2.1: a failed page can be loaded again; where no page may be shown, the client
    // gets the error.
    @Test(arguments: [
        (StoreFault.unavailable("the disk /var/lib/x is full"), OAuthError.Code.temporarilyUnavailable),
        (.damaged("page 7 is not a page"), .serverError),
    ])
    func `with prompt=none a fault is reported to the client`(fault: StoreFault, code: OAuthError.Code)
        async throws
    {
        let store = TestStore()
        let test = try await TestServer(store: store)
        let attempt = Attempt(test, by: try await Self.client(test, isFirstParty: true), at: Self.address)
        let silent = attempt.with("prompt", "none")
        var browser = test.browser()
        _ = try await attempt.authorize(with: &browser)
        for operation in [StoreOperation.session, .recordConsent] {
            store.fail(operation, with: fault)
            let reply = try await browser.open(silent.url)
            #expect(reply.status == .seeOther)
            let error = try reply.redirectedError
            #expect(error.code == code)
            #expect(try reply.authorizationResponse.state?.exposed == "af0ifjsldkj")
            // The cause is only for the operator.
            #expect(error.description?.contains("disk") != true && error.description?.contains("7") != true)
            let shown = try await browser.open(attempt.url)
            #expect(shown.status == (code == .serverError ? .internalServerError : .serviceUnavailable))
            #expect(shown.location == nil)
            store.recover()
            #expect(try await browser.open(silent.url).code.exposed.isEmpty == false)
        }
        #expect(test.log.lines.contains { $0.hasPrefix("error") && $0.contains(fault.description.suffix(15)) })
        #expect(test.server.metrics.snapshot.events[.storeError] == 4)
    }
}
