import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The users who may allow something to a client that no person registered, and the APIs that it can name.
struct ApproverTests {
    private func server(_ change: (inout UnregisteredClientPolicy) throws -> Void) async throws -> TestServer {
        let test = try await TestServer()
        try await test.acceptUnregisteredClients(change)
        return test
    }

    // SEC: no consent form, so that the user cannot answer.
    @Test func `a user who is not an administrator gets a page without a form`() async throws {
        let test = try await server { $0.approvers = .administrators }
        let client = try await test.selfRegisteredClient()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let attempt = Attempt(test, by: client)
        let reply = try await browser.open(attempt.url)
        #expect(reply.status == .forbidden)
        let page = try reply.problemPage
        #expect(page.title == "Only an administrator can allow this app")
        #expect(page.explanation.contains("Album"))
        #expect(try !reply.html().contains("<form"))
        #expect(try await test.store.consent(of: test.alice.id, to: client.id) == nil)
    }

    // OpenID Connect Core §3.1.2.6: with prompt=none no page can be shown.
    @Test func `with prompt none the client gets access_denied`() async throws {
        let test = try await server { $0.approvers = .administrators }
        let client = try await test.selfRegisteredClient()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let reply = try await browser.send(.get, to: Attempt(test, by: client).with("prompt", "none").url)
        #expect(try reply.redirectedError.code == .accessDenied)
    }

    @Test func `an administrator is asked and can allow the client`() async throws {
        let test = try await server { $0.approvers = .administrators }
        let client = try await test.selfRegisteredClient()
        _ = try await test.addUser("ada", role: .administrator)
        var browser = test.browser()
        let attempt = Attempt(test, by: client)
        _ = try await browser.authorize(attempt.url, username: "ada", password: TestServer.password).code
        // A registered client is no concern of the policy.
        _ = try await Attempt(test).authorize().code
    }

    // Another administrator changes the policy while the page is open.
    @Test(arguments: [ScriptedUserAgent.Decision.allow, .deny])
    func `an answer after a change of the policy allows nothing`(decision: ScriptedUserAgent.Decision) async throws {
        let test = try await server { _ in }
        let client = try await test.selfRegisteredClient()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let asked = try await browser.open(Attempt(test, by: client).url)
        _ = try asked.consentPage
        try await test.acceptUnregisteredClients { $0.approvers = .administrators }
        let reply = try await browser.decide(decision, on: asked)
        if decision == .allow {
            #expect(reply.status == .forbidden)
        }
        #expect(try await test.store.consent(of: test.alice.id, to: client.id) == nil)
    }

    // A remembered consent must not answer the request instead of an administrator.
    @Test func `an earlier consent of a user does not count any more`() async throws {
        let test = try await server { _ in }
        let client = try await test.selfRegisteredClient()
        var browser = test.browser()
        _ = try await Attempt(test, by: client).authorize(with: &browser).code
        try await test.acceptUnregisteredClients { $0.approvers = .administrators }
        #expect(try await browser.open(Attempt(test, by: client).url).status == .forbidden)
    }

    // RFC 8628 §3.3: the page of a device follows the same rule.
    @Test func `the page of a device shows no permissions to other users`() async throws {
        let test = try await server { $0.approvers = .administrators }
        let device = TestDevice(
            test, client: try await test.selfRegisteredClient(name: "Television", type: .device))
        let codes = try await device.codes()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let reply = try await browser.type(userCode: codes.userCode)
        #expect(reply.status == .forbidden)
        #expect(try reply.problemPage.explanation.contains("Television"))
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")

        _ = try await test.addUser("ada", role: .administrator)
        var administrator = test.browser()
        try await administrator.signInToConsole(username: "ada")
        let asked = try await administrator.type(userCode: codes.userCode)
        #expect(try await administrator.decide(.allow, on: asked).deviceDonePage.kind == .approved)
        #expect(await device.poll(codes).status == .ok)
    }

    @Test func `an answer on the page of a device after a change of the policy allows nothing`() async throws {
        let test = try await server { _ in }
        let device = TestDevice(
            test, client: try await test.selfRegisteredClient(name: "Television", type: .device))
        let codes = try await device.codes()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let asked = try await browser.type(userCode: codes.userCode)
        _ = try asked.consentPage
        try await test.acceptUnregisteredClients { $0.approvers = .administrators }
        #expect(try await browser.decide(.allow, on: asked).status == .forbidden)
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
    }

    // RFC 8707 §2: the policy limits the APIs of unregistered clients only.
    @Test func `an API that the policy does not contain is an invalid target`() async throws {
        let photos = try Resource("https://photos.example.com")
        let test = try await server { $0.resources = [photos] }
        _ = try await test.addAPI()
        _ = try await test.addAPI("https://files.example.com")
        let client = try await test.selfRegisteredClient()
        let device = TestDevice(
            test, client: try await test.selfRegisteredClient("app_tv", name: "Television", type: .device))
        for (resource, isAllowed) in [
            ("https://photos.example.com", true), ("https://files.example.com", false), (test.issuer.rawValue, true),
        ] {
            let scope = resource == test.issuer.rawValue ? "openid" : "photos.read"
            let attempt = Attempt(test, by: client, for: scope).with("resource", resource)
            var browser = test.browser()
            let reply = try await browser.send(.get, to: attempt.url)
            if isAllowed {
                _ = try reply.signInPage
            } else {
                #expect(try reply.redirectedError.code == .invalidTarget)
            }
            let answer = await device.request(["scope": scope, "resource": resource])
            #expect((answer.status == .ok) == isAllowed)
            if !isAllowed { #expect(try answer.tokenError.error == "invalid_target") }
            _ = try await Attempt(test).with("resource", "https://files.example.com").firstReply().signInPage
        }
    }

    // The tokens of a request without an API have the default audience.
    @Test func `the policy also judges the default audience`() async throws {
        let test = try await TestServer { $0.defaultAudience = "https://files.example.com" }
        try await test.acceptUnregisteredClients { policy in
            policy.resources = [try Resource("https://photos.example.com")]
        }
        let client = try await test.selfRegisteredClient()
        let refused = try await Attempt(test, by: client, for: "photos.read").firstReply()
        #expect(try refused.redirectedError.code == .invalidTarget)
        // A sign-in alone gives access to no API.
        _ = try await Attempt(test, by: client, for: "openid").firstReply().signInPage
        _ = try await Attempt(test, for: "photos.read").firstReply().signInPage
    }
}
