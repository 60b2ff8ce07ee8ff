import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The pages on which a user answers the request of a device (RFC 8628 §3.3).
struct DevicePageTests {
    // The complete URL only fills in the form; the code and the place are shown before the permissions.
    @Test func `the complete URL shows the code and asks, and approves nothing`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        device.test.clock.advance(by: 130)
        var browser = device.test.browser()
        try await browser.signInToConsole(username: "alice")
        let form = try await browser.open(codes.complete).deviceCodePage
        #expect(form.userCode == codes.userCode)
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
        let reply = try await browser.submit(form.form(codes.userCode), to: form.action)
        let page = try reply.consentPage
        #expect(page.clientName.description == "Television")
        #expect(
            page.redirectDestination
                == .waitingDevice(
                    .init(
                        userCode: codes.userCode, source: "198.51.100.7", program: "A program on Linux",
                        requested: "2 minutes ago")))
        #expect(page.permissions.map(\.scope) == ["photos.read"])
        device.test.clock.advance(by: 5)
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
        #expect(try await browser.decide(.allow, on: reply).deviceDonePage.kind == .approved)
        #expect(await device.poll(codes).status == .ok)
    }

    // No answer without the form of the page in the same session.
    @Test func `an answer without a form ticket of the session is refused`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        var (victim, attacker) = (device.test.browser(), device.test.browser())
        _ = try await device.test.addUser("mallory")
        try await attacker.signInToConsole(username: "mallory")
        let page = try await attacker.type(userCode: codes.userCode).consentPage
        try await victim.signInToConsole(username: "alice")
        let stolen = page.form(.allow)
        let forged = FormParameters([
            "request": page.request, "ticket": "forged", "decision": "allow",
        ])
        for form in [stolen, forged] {
            #expect(try await victim.submit(form, to: page.action).status == .forbidden)
        }
        let crossSite = try await attacker.send(
            .post, to: page.action, form: stolen,
            fields: [try #require(HTTPField.Name("Sec-Fetch-Site")): "cross-site"])
        #expect(crossSite.status == .forbidden)
        #expect(try await attacker.send(.get, to: page.action).status == .methodNotAllowed)
        let withoutTicket = try await victim.submit(
            FormParameters(["user_code": codes.userCode]), to: "/device")
        #expect(withoutTicket.status == .forbidden)
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
    }

    // The page says that the device is connected, so the approval outlives the device_code for the next poll.
    @Test func `an approval in the last second reaches the device`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        var browser = device.test.browser()
        device.test.clock.advance(by: 599)
        #expect(try await browser.answer(codes).deviceDonePage.kind == .approved)
        device.test.clock.advance(by: 6)
        #expect(await device.poll(codes).status == .ok)
    }

    @Test func `a user without a session signs in after typing the code`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        var browser = device.test.browser()
        let signIn = try await browser.type(userCode: codes.userCode.lowercased())
        #expect(try signIn.signInPage.action == "/device/sign-in")
        let wrong = try await browser.signIn(on: signIn, username: "alice", password: "wrong")
        #expect(wrong.status == .badRequest)
        let asked = try await browser.signIn(on: wrong, username: "alice", password: TestServer.password)
        guard case .waitingDevice(let shown) = try asked.consentPage.redirectDestination else {
            Issue.record("the page does not show the device")
            return
        }
        #expect(shown.userCode == codes.userCode)
        #expect(shown.requested == "Less than a minute ago")
        // "Use another account" asks for the code again, with the form filled in.
        let again = try await browser.decide(.switchAccount, on: asked)
        #expect(try again.deviceCodePage.userCode == codes.userCode)
        #expect(try await device.test.store.sessions(of: device.test.alice.id).isEmpty)
    }

    // The ticket of the redirect after a sign-in belongs to its session and code, and to this page.
    @Test func `the ticket of a sign-in is not accepted for another code or session`() async throws {
        let device = try await TestDevice(try await TestServer())
        let (codes, others) = (try await device.codes(), try await device.codes())
        var browser = device.test.browser()
        let page = try await browser.type(userCode: codes.userCode).signInPage
        let redirect = try await browser.send(
            .post, to: page.action, form: page.form(username: "alice", password: TestServer.password))
        let location = try #require(redirect.location)
        let forOther = location.replacing(codes.userCode, with: others.userCode)
        #expect(try await browser.open(forOther).page is DeviceCodePage)
        var other = device.test.browser()
        try await other.signInToConsole(username: "alice")
        #expect(try await other.open(location).page is DeviceCodePage)
        #expect(try await browser.open(location).page is ConsentPage)
        device.test.clock.advance(by: 61)
        #expect(try await browser.open(location).page is DeviceCodePage)
    }

    @Test func `the user may leave out optional permissions, and none at all is a denial`() async throws {
        let device = try await TestDevice(
            try await TestServer(), scope: "photos.read photos.write", optionalScope: "photos.read photos.write")
        var browser = device.test.browser()
        try await browser.signInToConsole(username: "alice")
        let codes = try await device.codes(["scope": "photos.read photos.write"])
        let reply = try await browser.type(userCode: codes.userCode)
        let done = try await browser.decide(.allow, on: reply, leavingOut: ["photos.write"])
        #expect(try done.deviceDonePage.kind == .approved)
        #expect(try await device.poll(codes).tokenResponse.scope?.description == "photos.read")
        let second = try await device.codes(["scope": "photos.read photos.write"])
        let asked = try await browser.type(userCode: second.userCode)
        let none = try await browser.decide(.allow, on: asked, leavingOut: ["photos.read", "photos.write"])
        #expect(try none.deviceDonePage.kind == .denied)
        #expect(try await device.poll(second).tokenError.error == "access_denied")
    }

    // Consent is never remembered silently, not even for a client of the owner.
    @Test func `every request of a device is asked, also of a first-party client`() async throws {
        let test = try await TestServer()
        let client = try await test.register(
            "Set-top box", type: .device, redirectURIs: [], scope: "photos.read", isFirstParty: true)
        let device = TestDevice(test, client: client)
        var browser = test.browser()
        for _ in 0..<2 {
            let codes = try await device.codes()
            #expect(try await browser.answer(codes).deviceDonePage.kind == .approved)
        }
    }

    @Test func `a second answer says that the code is no longer valid, and changes nothing`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        var browser = device.test.browser()
        try await browser.signInToConsole(username: "alice")
        let (first, second) = (
            try await browser.type(userCode: codes.userCode), try await browser.type(userCode: codes.userCode)
        )
        #expect(try await browser.decide(.deny, on: first).deviceDonePage.kind == .denied)
        for reply in [first, second] {
            let done = try await browser.decide(.allow, on: reply)
            #expect(done.status == .conflict)
            #expect(try done.deviceDonePage.kind == .over)
        }
        #expect(try await device.poll(codes).tokenError.error == "access_denied")
        let expired = try await device.codes()
        let late = try await browser.type(userCode: expired.userCode)
        device.test.clock.advance(by: 600)
        #expect(try await browser.decide(.allow, on: late).deviceDonePage.kind == .over)
        #expect(try await browser.type(userCode: expired.userCode).deviceCodePage.problem != nil)
    }

    @Test(arguments: [ScriptedUserAgent.Decision.allow, .deny])
    func `a reload of the result shows it again, to the same session only`(
        decision: ScriptedUserAgent.Decision
    ) async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        var browser = device.test.browser()
        try await browser.signInToConsole(username: "alice")
        let page = try await browser.type(userCode: codes.userCode).consentPage
        let redirect = try await browser.send(.post, to: page.action, form: page.form(decision))
        #expect(redirect.status == .seeOther)
        let location = try #require(redirect.location)
        #expect(!location.contains(codes.userCode))
        for _ in 0..<2 {
            let reply = try await browser.open(location)
            #expect(reply.status == .ok)
            #expect(try reply.deviceDonePage.kind == (decision == .allow ? .approved : .denied))
            #expect(try reply.deviceDonePage.clientName == "Television")
        }
        // The text of the page is that of the server, and for the user who answered.
        let forged = [
            location.replacing("Television", with: "Typewriter"),
            decision == .allow
                ? location.replacing("answer=allowed", with: "answer=denied")
                : location.replacing("answer=denied", with: "answer=allowed"),
        ]
        for location in forged { #expect(try await browser.open(location).page is DeviceCodePage) }
        var other = device.test.browser()
        #expect(try await other.open(location).page is DeviceCodePage)
        _ = try await device.test.addUser("mallory")
        try await other.signInToConsole(username: "mallory")
        #expect(try await other.open(location).page is DeviceCodePage)
        var same = device.test.browser()
        try await same.signInToConsole(username: "alice")
        #expect(try await same.open(location).page is DeviceCodePage)
        device.test.clock.advance(by: TimeInterval(device.test.server.settings.pageLifetime + 1))
        #expect(try await browser.open(location).page is DeviceCodePage)
    }

    @Test func `a client that changed while the page was shown is asked about again`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        var browser = device.test.browser()
        try await browser.signInToConsole(username: "alice")
        let reply = try await browser.type(userCode: codes.userCode)
        try await device.test.change(device.client) { $0.presentation.name = "Another name" }
        #expect(try await browser.decide(.allow, on: reply).status == .conflict)
        #expect(try await device.poll(codes).tokenError.error == "authorization_pending")
    }

    // RFC 8628 §5.1. The guesses of a stranger do not invalidate the code of another user.
    @Test func `a thousand guesses are throttled and leave the pending code alone`() async throws {
        let device = try await TestDevice(try await TestServer())
        let codes = try await device.codes()
        var attacker = device.test.browser(source: "203.0.113.9")
        _ = try await device.test.addUser("mallory")
        try await attacker.signInToConsole(username: "mallory")
        let page = try await attacker.open("/device").deviceCodePage
        var statuses: [HTTPResponse.Status: Int] = [:]
        for _ in 0..<1000 {
            let guess = try await attacker.submit(page.form(UserCode().description), to: page.action)
            statuses[guess.status, default: 0] += 1
        }
        #expect(statuses == [.badRequest: 5, .tooManyRequests: 995])
        // While the user is throttled, no code is looked up.
        let right = try await attacker.submit(page.form(codes.userCode), to: page.action)
        #expect(right.status == .tooManyRequests)
        #expect(right.fields[.retryAfter] == "600")
        #expect(try right.deviceCodePage.retryAfterSeconds == 600)
        var user = device.test.browser()
        #expect(try await user.answer(codes).deviceDonePage.kind == .approved)
        #expect(await device.poll(codes).status == .ok)
    }

    @Test func `guesses with many accounts from one address are throttled`() async throws {
        let device = try await TestDevice(try await TestServer())
        var wrong = 0
        for number in 0..<12 {
            _ = try await device.test.addUser("mallory\(number)")
            var browser = device.test.browser(source: "203.0.113.9")
            try await browser.signInToConsole(username: "mallory\(number)")
            for _ in 0..<5 where try await browser.type(userCode: UserCode().description).status == .badRequest {
                wrong += 1
            }
        }
        #expect(wrong == 50)
    }
}
