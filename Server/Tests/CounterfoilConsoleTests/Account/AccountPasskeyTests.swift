import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The passkeys of a user: adding (WebAuthn §7.1), renaming and removing.
struct AccountPasskeyTests {
    private static func signedIn(_ test: TestServer, as name: String = "alice") async throws -> ScriptedUserAgent {
        var browser = test.browser()
        browser.fields[.userAgent] =
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
        try await browser.signInToConsole(username: name)
        return browser
    }

    private static func press(
        _ decision: String, _ row: PasskeysPage.Row, name: String = "", in browser: inout ScriptedUserAgent
    ) async throws -> Reply {
        let page = try await browser.open("/account/passkeys").passkeysPage
        let form = FormParameters(["ticket": page.offer.ticket, "decision": decision, "passkey": row.id, "name": name])
        return try await browser.submit(form, to: page.offer.action)
    }

    private static func events(_ test: TestServer) async throws -> [AuditEvent] {
        try await test.store.audit(AuditQuery(kind: .passkey)).map(\.event)
    }

    @Test func `a user adds a passkey, and sees when and where it signed in`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let empty = try await browser.open("/account/passkeys").passkeysPage
        #expect(empty.rows.isEmpty && empty.canAdd)
        var passkey = TestPasskey()
        let page = try await browser.add(&passkey).passkeysPage
        #expect(page.notice == "Your passkey is added. You can sign in with it from now on.")
        let row = try #require(page.rows.first)
        #expect(row.name == "Firefox on Linux" && row.lastUsed == nil && row.isSynced)
        #expect(try await Self.events(test).map(\.detail) == ["added"])

        var other = test.browser(source: "198.51.100.7")
        other.fields[.userAgent] = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Safari/604.1"
        _ = try await other.signIn(on: try await other.open("/sign-in"), with: passkey)
        #expect(try await other.open("/account").accountPage.user.username == "alice")
        let used = try await browser.open("/account/passkeys").passkeysPage.rows.first
        #expect(used?.lastUsed == "just now, Safari on iPhone, 198.51.100.7")
    }

    // WebAuthn §5.4: the options for the browser.
    @Test func `the page asks for a passkey that verifies the user and needs no name`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        var passkey = TestPasskey()
        try await browser.add(&passkey)
        let page = try await browser.open("/account/passkeys").passkeysPage
        let options = try #require(
            try JSONSerialization.jsonObject(with: Data(page.offer.options.utf8)) as? [String: Any])
        #expect((options["rp"] as? [String: String]) == ["id": "id.example.com", "name": "Example Photos"])
        let user = try #require(options["user"] as? [String: String])
        #expect(user["name"] == "alice" && user["displayName"] == "Alice")
        #expect(user["id"] == Base64URL.encode(Array(test.alice.id.rawValue.utf8)))
        let selection = try #require(options["authenticatorSelection"] as? [String: Any])
        #expect(selection["residentKey"] as? String == "required")
        #expect(selection["userVerification"] as? String == "required")
        #expect(options["attestation"] as? String == "none")
        let known = Base64URL.encode(passkey.credentialID)
        #expect((options["excludeCredentials"] as? [[String: Any]])?.first?["id"] as? String == known)
        // WebAuthn §5.1.10: what the browser is told.
        let told = try Self.told(page.signal)
        #expect(told["credentials"] as? [String] == [known])
        #expect(told["id"] as? String == user["id"] && told["displayName"] as? String == "Alice")
    }

    private static func told(_ signal: PasskeySignal) throws -> [String: Any] {
        #expect(signal.domain == "id.example.com")
        return try #require(try JSONSerialization.jsonObject(with: Data(signal.data.utf8)) as? [String: Any])
    }

    // WebAuthn §5.1.10, signalCurrentUserDetails and signalAllAcceptedCredentials.
    @Test func `after a changed name or a removal, the browser is told on the pages of the account`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        #expect(try await browser.open("/account").accountPage.signal == nil)
        var (first, second) = (TestPasskey(), TestPasskey())
        try await browser.add(&first)
        let row = try #require(try await browser.add(&second).passkeysPage.rows.first)
        var alice = test.alice
        alice.displayName = #"Alice "><b>"#
        #expect(try await test.store.updateUser(alice, at: test.clock.now) == .updated)
        let account = try await browser.open("/account")
        let renamed = try Self.told(try #require(try account.accountPage.signal))
        #expect(renamed["name"] as? String == "alice")
        #expect(renamed["displayName"] as? String == DisplayName(of: alice).description)
        #expect((renamed["credentials"] as? [String])?.count == 2)
        let html = try account.html()
        #expect(html.contains(#"data-rp-id="id.example.com" data-user="{"#) && !html.contains(#"Alice "><b>"#))
        #expect(try account.accountPage.script == .passkeys)
        let left = try Self.told(try await Self.press("remove", row, in: &browser).passkeysPage.signal)
        #expect((left["credentials"] as? [String])?.count == 1)
        let later = try Self.told(try #require(try await browser.open("/account").accountPage.signal))
        #expect(later["credentials"] as? [String] == left["credentials"] as? [String])
    }

    @Test func `a display name with markup stays a text in the options`() async throws {
        let test = try await TestServer()
        var alice = test.alice
        alice.displayName = #""><script>alert(1)</script>"#
        #expect(try await test.store.updateUser(alice, at: test.clock.now) == .updated)
        var browser = try await Self.signedIn(test)
        let reply = try await browser.open("/account/passkeys")
        #expect(try !reply.html().contains("<script>alert"))
        #expect(try reply.passkeysPage.offer.options.contains("script"))
    }

    @Test func `a passkey can be renamed and removed`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        var passkey = TestPasskey()
        let row = try #require(try await browser.add(&passkey).passkeysPage.rows.first)
        let renamed = try await Self.press("rename", row, name: " My\u{202E} phone ", in: &browser).passkeysPage
        #expect(renamed.rows.map(\.name) == ["My phone"])
        #expect(renamed.notice == "The name is saved.")
        let nameless = try await Self.press("rename", row, name: " ", in: &browser)
        #expect(try nameless.status == .badRequest && nameless.passkeysPage.problems.map(\.text) == ["Enter a name."])
        let removed = try await Self.press("remove", row, in: &browser).passkeysPage
        #expect(removed.rows.isEmpty && removed.notice == "The passkey is removed.")
        #expect(
            try await Self.press("remove", row, in: &browser).passkeysPage.notice == "That passkey was already removed."
        )
        #expect(try await Self.events(test).map(\.detail) == ["deleted", "renamed", "added"])
        // The password stays a way in.
        var again = try await Self.signedIn(test)
        #expect(try await again.open("/account").page is AccountPage)
    }

    @Test func `no user changes a passkey of another user`() async throws {
        let test = try await TestServer()
        _ = try await test.addUser("bob")
        var alices = try await Self.signedIn(test)
        var passkey = TestPasskey()
        let row = try #require(try await alices.add(&passkey).passkeysPage.rows.first)
        var bobs = try await Self.signedIn(test, as: "bob")
        for (decision, notice) in [("rename", "That passkey was already removed."), ("remove", nil)] {
            let page = try await Self.press(decision, row, name: "Mine", in: &bobs).passkeysPage
            #expect(page.notice == notice ?? page.notice && page.rows.isEmpty)
        }
        #expect(try await alices.open("/account/passkeys").passkeysPage.rows.map(\.name) == ["Firefox on Linux"])
        // Nor is the same credential added twice (§7.1 step 26).
        let page = try await bobs.open("/account/passkeys").passkeysPage
        let answer = try passkey.registration(for: page.offer.options)
        let reply = try await bobs.submit(
            FormParameters(["ticket": page.offer.ticket, "decision": "add", "passkey": answer]), to: page.offer.action)
        #expect(reply.status == .badRequest)
        #expect(try reply.passkeysPage.problems.map(\.text) == ["This passkey already belongs to an account."])
    }

    /// A rule of the registration that an answer breaks.
    enum Fault: CaseIterable {
        case otherOrigin, otherPage, unverifiedUser, cutJSON, assertion

        func answer(_ page: PasskeysPage, _ earlier: PasskeysPage) throws -> String {
            var passkey = TestPasskey()
            switch self {
            case .otherOrigin: passkey.origin = "https://photos.example.com"
            case .otherPage: return try passkey.registration(for: earlier.offer.options)
            case .unverifiedUser: passkey.flags = 0x19
            case .cutJSON: return String(try passkey.registration(for: page.offer.options).dropLast(4))
            case .assertion: return try passkey.assertion(for: page.offer.options)
            }
            return try passkey.registration(for: page.offer.options)
        }
    }

    @Test(arguments: Fault.allCases)
    func `an answer that breaks a rule adds nothing`(fault: Fault) async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let earlier = try await browser.open("/account/passkeys").passkeysPage
        let page = try await browser.open("/account/passkeys").passkeysPage
        let reply = try await browser.submit(
            FormParameters(["ticket": page.offer.ticket, "decision": "add", "passkey": try fault.answer(page, earlier)]
            ),
            to: page.offer.action)
        #expect(reply.status == .badRequest)
        let text = "The passkey could not be verified. Try again, or use another device."
        #expect(try reply.passkeysPage.problems.map(\.text) == [text])
        #expect(try await test.store.passkeys(of: test.alice.id).isEmpty)
        let event = try #require(try await Self.events(test).first)
        #expect(event.reason == .passkey && event.userID == test.alice.id && event.explanation != nil)
    }

    @Test func `a user has at most twenty passkeys`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let early = try await browser.open("/account/passkeys").passkeysPage
        for _ in 0..<Passkey.limitPerUser {
            var passkey = TestPasskey()
            try await browser.add(&passkey)
        }
        let full = try await browser.open("/account/passkeys")
        #expect(try !full.passkeysPage.canAdd)
        #expect(try !full.html().contains("data-passkey=\"create\""))
        var passkey = TestPasskey()
        let answer = try passkey.registration(for: early.offer.options)
        let reply = try await browser.submit(
            FormParameters(["ticket": early.offer.ticket, "decision": "add", "passkey": answer]), to: early.offer.action
        )
        #expect(reply.status == .badRequest)
        #expect(try await test.store.passkeys(of: test.alice.id).count == Passkey.limitPerUser)
    }

    // A stolen session cookie does not suffice for a lasting way in.
    @Test func `passkeys need a recent sign-in`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let page = try await browser.open("/account/passkeys").passkeysPage
        test.clock.advance(by: TimeInterval(test.server.settings.recentSignInAge))
        #expect(try await browser.open("/account/passkeys").signInPage.notice != nil)
        var passkey = TestPasskey()
        let answer = try passkey.registration(for: page.offer.options)
        let reply = try await browser.submit(
            FormParameters(["ticket": page.offer.ticket, "decision": "add", "passkey": answer]), to: page.offer.action)
        #expect(reply.page is SignInPage)
        #expect(try await test.store.passkeys(of: test.alice.id).isEmpty)
    }

    // WebAuthn §5.1.3, conditional mediation: a password manager adds the first passkey without a question.
    @Test func `a user who has signed in with a password is offered a first passkey`() async throws {
        let test = try await TestServer()
        var browser = try await Self.signedIn(test)
        let reply = try await browser.open("/account")
        let offer = try #require(try reply.accountPage.offer)
        #expect(try reply.html().contains("Sign in without a password next time"))
        #expect(offer.options.contains(#""userVerification":"preferred""#))
        var passkey = TestPasskey()
        // Neither the presence nor the verification of the user.
        passkey.flags = 0x18
        let answer = try passkey.registration(for: offer.options)
        let added = try await browser.submit(
            FormParameters(["ticket": offer.ticket, "decision": "upgrade", "passkey": answer]), to: offer.action)
        #expect(try added.passkeysPage.rows.count == 1)
        #expect(try await browser.open("/account").accountPage.offer == nil)

        // Without the verification of the user, it signs no user in.
        var other = test.browser()
        #expect(try await other.signIn(on: try await other.open("/sign-in"), with: passkey).signInPage.isPasskeyWrong)
        passkey.flags = 0x1D
        _ = try await other.signIn(on: try await other.open("/sign-in"), with: passkey)
        // A user who has signed in with a passkey is offered none.
        #expect(try await other.open("/account").accountPage.offer == nil)
        // Nor one whose sign-in is long ago.
        _ = try await test.addUser("bob")
        var bobs = try await Self.signedIn(test, as: "bob")
        test.clock.advance(by: TimeInterval(test.server.settings.recentSignInAge))
        #expect(try await bobs.open("/account").accountPage.offer == nil)
    }

    @Test func `a server without a domain has no such page`() async throws {
        let test = try await TestServer(issuer: "http://127.0.0.1:8080")
        var browser = try await Self.signedIn(test)
        #expect(try await !browser.open("/account").html().contains("/account/passkeys"))
        #expect(try await browser.send(.get, to: "/account/passkeys").status == .notFound)
        let named = try await TestServer()
        browser = try await Self.signedIn(named)
        #expect(try await browser.open("/account").html().contains("/account/passkeys"))
    }
}
