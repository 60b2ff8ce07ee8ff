import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The sign-ins of apps of a user: listing and ending.
struct SignedInAppTests {
    private static let phone = "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0"

    /// A test server with an app that gets refresh tokens.
    private struct Frames {
        let test: TestServer
        let client: RegisteredClient

        init() async throws {
            test = try await TestServer()
            client = try await test.register(
                "Photo Frame", redirectURIs: ["http://127.0.0.1/callback"],
                scope: "openid profile offline_access photos.read photos.write")
        }

        func attempt(_ scope: String = "openid offline_access photos.read") -> Attempt {
            Attempt(test, by: client, for: scope).with("prompt", "consent")
        }

        /// A browser on a phone.
        func phone(source: String = "198.51.100.7") -> ScriptedUserAgent {
            var browser = test.browser(source: source)
            browser.fields[.userAgent] = SignedInAppTests.phone
            return browser
        }

        /// Signs alice in to the app on a phone.
        func signIn(
            _ scope: String = "openid offline_access photos.read", named name: String? = nil
        ) async throws -> TokenResponse {
            var browser = phone()
            return try await attempt(scope).with("device_name", name).tokens(in: &browser)
        }

        func refresh(_ tokens: TokenResponse) async throws -> Reply {
            await test.redeem(
                FormParameters([
                    "grant_type": "refresh_token", "client_id": client.id.rawValue,
                    "refresh_token": try #require(tokens.refreshToken).exposed,
                ]))
        }

        /// A browser in which alice is signed in to the console.
        func computer() async throws -> ScriptedUserAgent {
            var browser = test.browser()
            try await browser.signInToConsole(username: "alice")
            return browser
        }
    }

    private static func page(_ browser: inout ScriptedUserAgent) async throws -> SessionsPage {
        try await browser.open("/account/sessions").sessionsPage
    }

    private static func end(
        _ row: SessionsPage.AppRow, on page: SessionsPage, with browser: inout ScriptedUserAgent
    ) async throws -> Reply {
        try await browser.send(.post, to: page.action, form: page.form(ending: row.id))
    }

    @Test func `the sign-ins of an app are listed with device and place, and each is ended alone`() async throws {
        let frames = try await Frames()
        let first = try await frames.signIn(named: "Kitchen tablet")
        frames.test.clock.advance(by: 7200)
        let second = try await frames.signIn()
        var browser = try await frames.computer()
        let page = try await Self.page(&browser)
        let rows = page.apps.rows
        #expect(rows.map(\.name) == ["Photo Frame", "Photo Frame"])
        #expect(rows.map(\.deviceName) == [nil, "Kitchen tablet"])
        #expect(rows.map(\.device) == ["Firefox on Android", "Firefox on Android"])
        #expect(rows.map(\.source) == ["198.51.100.7", "198.51.100.7"])
        #expect(rows.map(\.signedIn) == ["just now", "2 hours ago"])
        #expect(rows.map(\.lastUsed) == ["just now", "2 hours ago"])
        #expect(rows.allSatisfy { !$0.isFromHere && $0.isVouchedFor })
        #expect(page.hasOthers && !page.isOnlyHere && page.apps.excess == nil)

        let ended = try #require(rows.last)
        let reply = try await Self.end(ended, on: page, with: &browser)
        #expect(reply.location == "/account/sessions?done=app-ended&sign_in=\(ended.id)")
        let after = try await browser.open(try #require(reply.location)).sessionsPage
        #expect(
            after.notice
                == "The app is signed out on that device. It can no longer use your account there.")
        #expect(after.apps.rows.map(\.id) == [try #require(rows.first).id])
        #expect(after.rows.count == page.rows.count, "no browser is signed out")
        #expect(try await frames.refresh(first).tokenError.error == "invalid_grant")
        #expect(try await frames.refresh(second).status == .ok)
        let events = try await frames.test.store.audit(AuditQuery(userID: frames.test.alice.id)).map(\.event)
        let revocation = try #require(events.first { $0.kind == .revocation })
        #expect(revocation.grantID?.rawValue == ended.id && revocation.clientID == frames.client.id)
        #expect(revocation.detail == RevocationReason.user.rawValue)
        #expect(
            try await Self.end(ended, on: page, with: &browser).location == "/account/sessions?done=app-over")
        #expect(try await frames.test.store.consent(of: frames.test.alice.id, to: frames.client.id) != nil)
    }

    // RFC 9068, an API that verifies access tokens by itself accepts them until they expire.
    @Test func `the page after a sign-out says what the app can still do, and until when`() async throws {
        let frames = try await Frames()
        let tokens = try await frames.signIn("openid offline_access photos.read photos.write")
        frames.test.clock.advance(by: 630)
        #expect(try await frames.refresh(tokens).status == .ok)
        frames.test.clock.advance(by: 30)
        var browser = try await frames.computer()
        let page = try await Self.page(&browser)
        let row = try #require(page.apps.rows.first)
        let address = "/account/sessions?done=app-ended&sign_in=\(row.id)"
        #expect(try await browser.open(address).sessionsPage.notice == nil, "it has not ended")
        let after = try await browser.submit(page.form(ending: row.id), to: page.action).sessionsPage
        let notice = try #require(after.notice)
        #expect(notice.hasPrefix("The app is signed out on that device. Until 9:11 UTC at the latest, it may still "))
        #expect(notice.contains("See your photos and albums") && notice.contains("Add and change photos"))
        #expect(!notice.contains("Stay signed in") && !notice.contains("Sign you in"))
        #expect(after.apps.isEmpty)

        frames.test.clock.advance(by: 3570)
        #expect(
            try await browser.open(address).sessionsPage.notice
                == "The app is signed out on that device. It can no longer use your account there.")
        _ = try await frames.test.addUser("bob")
        var bob = frames.test.browser()
        try await bob.signInToConsole(username: "bob")
        #expect(try await bob.open(address).sessionsPage.notice == nil, "it is not bob's")
        #expect(try await bob.open("/account/sessions?done=app-ended").sessionsPage.notice == nil)
    }

    // UserInfo asks for the grant with each request.
    @Test func `an access token without the scope of an API opens nothing after a sign-out`() async throws {
        let frames = try await Frames()
        _ = try await frames.signIn("openid profile")
        var browser = try await frames.computer()
        let page = try await Self.page(&browser)
        let row = try #require(page.apps.rows.first, "an access token alone is listed, too")
        let after = try await browser.submit(page.form(ending: row.id), to: page.action).sessionsPage
        #expect(
            after.notice
                == "The app is signed out on that device. It can no longer use your account there.")
    }

    @Test func `a sign-out elsewhere ends the apps of elsewhere, and the page says that`() async throws {
        let frames = try await Frames()
        var browser = try await frames.computer()
        #expect(try await Self.page(&browser).isOnlyHere)
        let here = try await frames.attempt().tokens(in: &browser)
        let fromHere = try await Self.page(&browser)
        #expect(fromHere.apps.rows.map(\.isFromHere) == [true])
        #expect(!fromHere.hasOthers && !fromHere.isOnlyHere)
        let elsewhere = try await frames.signIn()
        let reply = try await browser.open("/account/sessions")
        let page = try reply.sessionsPage
        #expect(page.apps.rows.count == 2 && page.hasOthers)
        let html = try reply.html()
        #expect(html.contains("in every app except those that you signed in to from this browser"))
        #expect(!html.contains("only here"))

        let after = try await browser.submit(page.form("end-others"), to: page.action).sessionsPage
        #expect(
            after.notice
                == "You are signed out in all other browsers, and in the apps that you signed in to elsewhere. "
                + "Access that these apps already hold can keep working until 9:00 UTC at the latest.")
        #expect(after.rows.count == 1 && after.apps.rows.map(\.isFromHere) == [true])
        #expect(try await frames.refresh(elsewhere).tokenError.error == "invalid_grant")
        #expect(try await frames.refresh(here).status == .ok)
        let last = try #require(after.apps.rows.first)
        let none = try await browser.submit(after.form(ending: last.id), to: after.action)
        #expect(try none.sessionsPage.isOnlyHere)
        #expect(try none.html().contains("<bdi>Example Photos</bdi> only here: in no other browser, and in no app."))
    }

    // A sign-in of another user is not ended, and its existence is not revealed.
    @Test func `a user cannot end the sign-in of another user`() async throws {
        let frames = try await Frames()
        let tokens = try await frames.signIn()
        var alice = try await frames.computer()
        let id = try #require(try await Self.page(&alice).apps.rows.first).id
        _ = try await frames.test.addUser("bob")
        var bob = frames.test.browser()
        try await bob.signInToConsole(username: "bob")
        let page = try await Self.page(&bob)
        #expect(page.apps.isEmpty)
        for wrong in [id, GrantIdentifier().rawValue, "", "x", "gr_"] {
            let reply = try await bob.send(.post, to: page.action, form: page.form(ending: wrong))
            #expect(reply.location == "/account/sessions?done=app-over")
        }
        let forged = page.form(ending: id).setting("ticket", to: "x")
        #expect(try await alice.send(.post, to: page.action, form: forged).status == .forbidden)
        #expect(try await frames.refresh(tokens).status == .ok)
    }

    // The device itself is listed, and not the browser in which the user typed its code (RFC 8628).
    @Test func `a device that shows a code is listed with its own name and address`() async throws {
        let test = try await TestServer()
        let device = try await TestDevice(test)
        let codes = try await device.codes(["scope": "photos.read", "device_name": " Living\nroom "])
        var browser = test.browser()
        #expect(try await browser.answer(codes).deviceDonePage.kind == .approved)
        #expect(try await Self.page(&browser).apps.isEmpty, "the device has no tokens yet")
        test.clock.advance(by: 5)
        #expect(await device.poll(codes).status == .ok)
        let row = try #require(try await Self.page(&browser).apps.rows.first)
        #expect(row.name == "Television" && row.deviceName == "Living room")
        #expect(row.device == "A program on Linux" && row.source == "198.51.100.7")
        // Anyone can have sent the user the code, so the device counts as another one than this browser.
        #expect(!row.isFromHere)
        let page = try await Self.page(&browser)
        #expect(page.hasOthers)
        let after = try await browser.submit(page.form("end-others"), to: page.action).sessionsPage
        #expect(after.apps.isEmpty && after.isOnlyHere)
    }

    private static let hostile = "<b>Ada</b>\u{202E} \u{0}\u{200B}" + String(repeating: "x", count: 300)
    private static let names: [(sent: String, shown: String?)] = [
        (hostile, "<b>Ada</b> " + String(repeating: "x", count: 53)), (" \u{200B}\n", nil), ("", nil),
        ("Adas Händy 📱", "Adas Händy 📱"),
    ]

    @Test(arguments: names, [true, false])
    func `a device name is shown as the word of the app, cleaned and cut`(
        name: (sent: String, shown: String?), isPushed: Bool
    ) async throws {
        let frames = try await Frames()
        let attempt = frames.attempt().with("device_name", name.sent)
        var browser = frames.phone()
        let code: AuthorizationCode
        if isPushed {
            let pushed = try await frames.test.post(attempt.request, to: .pushedAuthorization).members
            let query = FormParameters([
                "client_id": frames.client.id.rawValue,
                "request_uri": try #require(pushed["request_uri"] as? String),
            ])
            let url = frames.test.issuer.endpoint("/oauth2/authorize") + "?" + query.encoded
            code = try await browser.authorize(url, username: "alice", password: TestServer.password).code
        } else {
            code = try await attempt.authorize(with: &browser).code
        }
        _ = try await frames.test.redeem(attempt.exchange(code)).tokenResponse
        let reply = try await browser.open("/account/sessions")
        #expect(try reply.sessionsPage.apps.rows.map(\.deviceName) == [name.shown])
        let html = try reply.html()
        #expect(!html.contains("<b>Ada"))
        #expect(html.contains("Device, as the app calls it: ") == (name.shown != nil))
    }

    @Test func `the page shows the fifty sign-ins that were used last, and the number of all`() async throws {
        let test = try await TestServer()
        let session = Session.lasting(of: test.alice)
        #expect(
            try await test.store.beginSession(
                session, proving: .password(try #require(test.alice.passwordHash)), replacing: nil)
                == .begun(session.id))
        let world = World(test.store, user: test.alice, client: test.lightbox, session: session)
        for _ in 0...SessionsPage.appLimit { _ = try await world.refreshFamily(of: world.grant()) }
        var browser = test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await Self.page(&browser)
        #expect(page.apps.rows.count == SessionsPage.appLimit)
        #expect(page.apps.excess == "The 50 most recently used of 51 sign-ins are shown.")
    }
}

extension SessionsPage {
    /// The fields of the form that ends the sign-in of an app.
    func form(ending signIn: String) -> FormParameters {
        FormParameters(["ticket": ticket, "decision": "end-app", "sign_in": signIn])
    }
}
