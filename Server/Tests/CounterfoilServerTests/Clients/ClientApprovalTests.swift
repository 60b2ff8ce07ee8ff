import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Clients that wait for the approval of an administrator, or are in development.
struct ClientApprovalTests {
    private static func client(
        _ test: TestServer, _ approval: ClientApproval, owner: User? = nil, testers: [String] = [],
        scope: String = "openid offline_access photos.read"
    ) async throws -> RegisteredClient {
        let client = try await test.register(
            "Album", redirectURIs: ["http://127.0.0.1/callback"], scope: scope, owner: owner?.id)
        try await test.change(client) {
            $0.approval = approval
            $0.testers = testers.compactMap { Username($0) }
        }
        return try #require(try await test.store.client(client.id))
    }

    @Test func `no user begins a sign-in to a client that waits for approval`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .pending, owner: test.alice)
        let reply = try await Attempt(test, by: client).firstReply()
        #expect(reply.status == .badRequest)
        #expect(try reply.problemPage.title == "Album is not approved yet")
        let events = try await test.store.audit(AuditQuery(kind: .browserRequest)).map(\.event)
        #expect(events.first?.detail?.hasPrefix("client_not_approved") == true)
        #expect(try await Attempt(test, by: client).push().tokenError.error == "unauthorized_client")
        let device = TestDevice(test, client: client)
        #expect(try await device.request().tokenError.error == "unauthorized_client")

        let decision = ClientDecision.approve(revision: client.revision)
        #expect(try await test.store.decide(decision, on: client.id, at: test.clock.now, recording: []) == .decided)
        _ = try await Attempt(test, by: client).authorize().code
    }

    // Users keep what they allowed before the client changed.
    @Test func `a client that loses its approval keeps its tokens`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .approved)
        let tokens = try await Attempt(test, by: client, for: "openid offline_access photos.read").tokens()
        try await test.change(client) { $0.approval = .pending }
        let form = FormParameters([
            "grant_type": "refresh_token", "client_id": client.id.rawValue,
            "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        #expect(await test.redeem(form).status == .ok)
        #expect(try await Attempt(test, by: client).firstReply().problemPage.title == "Album is not approved yet")
    }

    @Test func `only the developer and the testers sign in to a client in development, and read that it is`()
        async throws
    {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        _ = try await test.addUser("grace", role: .administrator)
        let client = try await Self.client(test, .development, owner: test.alice, testers: ["BOB", "nobody"])
        for name in ["alice", "bob"] {
            var browser = test.browser()
            try await browser.signInToConsole(username: name)
            let page = try await browser.open(Attempt(test, by: client).url).consentPage
            #expect(page.isInDevelopment, "\(name)")
        }
        // Not even an administrator, whose rights are worth the most.
        var browser = test.browser()
        try await browser.signInToConsole(username: "grace")
        let reply = try await browser.open(Attempt(test, by: client).url)
        #expect(reply.status == .forbidden)
        #expect(try reply.problemPage.title == "Album is in development")
        let silent = try await browser.send(.get, to: Attempt(test, by: client).with("prompt", "none").url)
        #expect(try silent.redirectedError.code == .accessDenied)
        let codes = try await TestDevice(test, client: client).codes()
        #expect(try await browser.type(userCode: codes.userCode).problemPage.title == "Album is in development")
    }

    // The developer removes a tester while the page is open; a remembered consent does not count either.
    @Test func `a tester who is removed allows nothing more`() async throws {
        let test = try await TestServer()
        let client = try await Self.client(test, .development, testers: ["alice"])
        var browser = test.browser()
        _ = try await Attempt(test, by: client).authorize(with: &browser).code
        let asked = try await browser.open(Attempt(test, by: client, for: "openid photos.read").url)
        _ = try asked.consentPage
        try await test.change(client) { $0.testers = [] }
        #expect(try await browser.decide(.allow, on: asked).status != .seeOther)
        #expect(try await browser.open(Attempt(test, by: client).url).status == .forbidden)
    }

    @Test(arguments: NewClientApproval.allCases)
    func `a client that registers itself begins as the setting says, and has no developer`(
        setting: NewClientApproval
    ) async throws {
        let desk = try await RegistrationDesk(configure: { $0.newClients = setting })
        let client = try await desk.registered(["redirect_uris": [RegistrationDesk.callback]])
        let approval = try await client.registration().approval
        #expect(approval == (setting == .open ? .open : .pending))
        #expect(client.members["client_status"] as? String == (setting == .open ? nil : "pending"))
    }

    @Test func `a change by a client that registered itself ends its approval`() async throws {
        let desk = try await RegistrationDesk(configure: { $0.newClients = .pending })
        let client = try await desk.registered(["redirect_uris": [RegistrationDesk.callback], "client_name": "Album"])
        let revision = try await client.registration().revision
        let outcome = try await desk.test.store.decide(
            .approve(revision: revision), on: client.id, at: desk.test.clock.now, recording: [])
        #expect(outcome == .decided)
        let same = ["redirect_uris": [RegistrationDesk.callback], "client_name": "Bank"] as [String: Any]
        #expect(try await client.replace(same).members["client_status"] as? String == "pending")
        #expect(try await client.registration().isPending)
    }
}
