import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// A client that an administrator has suspended, at every endpoint of the protocol.
struct ClientSuspensionTests {
    private static let reason = "It sends mail to all contacts."

    private static func suspend(_ client: RegisteredClient, on test: TestServer) async throws {
        let outcome = try await test.store.decide(
            .suspend(reason: reason), on: client.id, at: test.clock.now, recording: [])
        #expect(outcome == .decided)
    }

    private static func resume(_ client: RegisteredClient, on test: TestServer) async throws {
        #expect(try await test.store.decide(.resume, on: client.id, at: test.clock.now, recording: []) == .decided)
    }

    private static func refresh(_ tokens: TokenResponse, of client: RegisteredClient) throws -> FormParameters {
        FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
    }

    private static func offlineClient(_ test: TestServer) async throws -> RegisteredClient {
        try await test.register(
            "Album", redirectURIs: ["http://127.0.0.1/callback"], scope: "openid offline_access photos.read")
    }

    // RFC 6749 §4.1.2.1: nothing is redirected, because the redirect URI can be the reason.
    @Test(arguments: [nil, "none"])
    func `an authorization request ends on a page that names no reason`(prompt: String?) async throws {
        let test = try await TestServer()
        try await Self.suspend(test.lightbox, on: test)
        let reply = try await Attempt(test).with("prompt", prompt).firstReply()
        #expect(reply.status == .badRequest)
        #expect(reply.fields[.location] == nil)
        #expect(try reply.problemPage.title == "Lightbox is suspended")
        #expect(try !reply.html().contains(Self.reason))
        let events = try await test.store.audit(AuditQuery(kind: .browserRequest)).map(\.event)
        #expect(events.first?.clientID == test.lightbox.id)
        #expect(events.first?.detail?.hasPrefix("client_suspended") == true)

        try await Self.resume(test.lightbox, on: test)
        _ = try await Attempt(test).authorize().code
    }

    @Test func `a page that was open before the suspension allows nothing`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let asked = try await browser.open(Attempt(test).url)
        _ = try asked.consentPage
        try await Self.suspend(test.lightbox, on: test)
        let reply = try await browser.decide(.allow, on: asked)
        #expect(try reply.problemPage.title == "Lightbox is suspended")
        #expect(try await test.store.consent(of: test.alice.id, to: test.lightbox.id) == nil)
    }

    // RFC 6749 §5.2: unauthorized_client, so that a client keeps its tokens.
    @Test func `neither a code nor a refresh token gives tokens, and both work after the suspension`() async throws {
        let test = try await TestServer()
        let client = try await Self.offlineClient(test)
        let scope = "openid offline_access photos.read"
        let tokens = try await Attempt(test, by: client, for: scope).tokens()
        let attempt = Attempt(test, by: client, for: scope)
        let code = attempt.exchange(try await attempt.authorize().code)
        let refresh = try Self.refresh(tokens, of: client)
        try await Self.suspend(client, on: test)
        for form in [code, refresh] {
            let reply = await test.redeem(form)
            #expect(reply.status == .badRequest)
            #expect(try reply.tokenError.error == "unauthorized_client")
        }
        try await Self.resume(client, on: test)
        #expect(await test.redeem(code).status == .ok)
        #expect(await test.redeem(refresh).status == .ok)
    }

    @Test func `a device gets no codes, its user no question, and it no tokens`() async throws {
        let test = try await TestServer()
        let device = try await TestDevice(test)
        let (open, approved) = (try await device.codes(), try await device.codes())
        var browser = test.browser()
        #expect(try await browser.answer(approved).deviceDonePage.kind == .approved)
        try await Self.suspend(device.client, on: test)
        #expect(try await device.request().tokenError.error == "unauthorized_client")
        #expect(try await browser.type(userCode: open.userCode).problemPage.title == "Television is suspended")
        for codes in [open, approved] {
            #expect(try await device.poll(codes).tokenError.error == "unauthorized_client")
        }
        try await Self.resume(device.client, on: test)
        test.clock.advance(by: 10)
        #expect(await device.poll(approved).status == .ok)
    }

    @Test func `a confidential client can neither push a request nor introspect, but its secret is checked first`()
        async throws
    {
        let party = try await RelyingParty()
        let tokens = try await party.tokens()
        try await Self.suspend(party.client, on: party.test)
        let pushed = await party.attempt().push(fields: [.authorization: party.basic])
        #expect(try pushed.tokenError.error == "unauthorized_client")
        #expect(try await party.attempt().push().tokenError.error == "invalid_client")
        let introspected = await party.test.post(
            FormParameters(["token": tokens.accessToken.exposed]), to: .introspection,
            fields: [.authorization: party.basic])
        #expect(try introspected.tokenError.error == "unauthorized_client")
        #expect(await party.userInfo(tokens.accessToken).status == .unauthorized)
        try await Self.resume(party.client, on: party.test)
        #expect(await party.userInfo(tokens.accessToken).status == .ok)
    }

    @Test func `introspection says that its tokens are inactive while it is suspended`() async throws {
        let test = try await TestServer()
        let api = try await test.addAPI()
        let token = try await Attempt(test).adding("resource", api.resource.resource.rawValue).tokens().accessToken
        let service = try await test.addService()
        let machine = try await service.token(["resource": api.resource.resource.rawValue]).accessToken
        for client in [test.lightbox, service.client] { try await Self.suspend(client, on: test) }
        #expect(try await !api.sees(token.exposed))
        #expect(try await !api.sees(machine.exposed))
        for client in [test.lightbox, service.client] { try await Self.resume(client, on: test) }
        #expect(try await api.sees(token.exposed))
        #expect(try await api.sees(machine.exposed))
    }

    // RFC 7009: what ends access is never refused.
    @Test func `a suspended client can revoke its tokens`() async throws {
        let test = try await TestServer()
        let client = try await Self.offlineClient(test)
        let tokens = try await Attempt(test, by: client, for: "openid offline_access photos.read").tokens()
        try await Self.suspend(client, on: test)
        let form = FormParameters([
            "token": try #require(tokens.refreshToken).exposed, "client_id": client.id.rawValue,
        ])
        #expect(await test.post(form, to: .revocation).status == .ok)
        try await Self.resume(client, on: test)
        #expect(try await test.redeem(Self.refresh(tokens, of: client)).tokenError.error == "invalid_grant")
    }

    // The document of a client must not end its suspension.
    @Test func `a client that registered itself reads the reason, and stays suspended after a change`() async throws {
        let desk = try await RegistrationDesk()
        let metadata = ["redirect_uris": [RegistrationDesk.callback], "client_name": "Album"] as [String: Any]
        let client = try await desk.registered(metadata)
        #expect(client.members["client_status"] == nil)
        try await Self.suspend(client.registration(), on: desk.test)
        let read = try await client.read().members
        #expect(read["client_status"] as? String == "suspended")
        #expect(read["client_status_reason"] as? String == Self.reason)
        #expect(try await client.replace(metadata).status == .ok)
        #expect(try await client.registration().suspension?.reason == Self.reason)
    }
}
