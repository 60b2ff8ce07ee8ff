import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The sign-in at the page of the owner.
struct ExternalSignInTests {
    private static func account(_ subject: String = "customer-7", at test: TestServer) async throws -> UserIdentityFacts
    {
        let pair = try #require(ExternalSubject(issuer: TestSignInPage.issuer, subject: subject))
        return try #require(try await test.store.identity(pair))
    }

    @Test func `the browser goes to the page with a signed request for the client`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let attempt = Attempt(test, for: "openid photos.read").with("login_hint", "ada@example.com")
            .with("max_age", "600").with("prompt", "login").with("ui_locales", "nb en")
            .with("acr_values", "urn:counterfoil:acr:two-factor")
        let reply = try await browser.open(attempt.url)
        let request = try page.request(in: reply)
        let (header, claims) = try IssuedTokens.parts(of: request)
        #expect(header["typ"] as? String == "sign-in-request+jwt" && header["alg"] as? String == "ES256")
        let keys = try await IssuedTokens(test).keys
        #expect(keys.keys.contains { $0.id.rawValue == header["kid"] as? String })
        #expect(claims["iss"] as? String == test.issuer.rawValue)
        #expect(claims["aud"] as? String == TestSignInPage.address)
        #expect(claims["response_uri"] as? String == "https://id.example.com/sign-in/external")
        #expect(claims["client_id"] as? String == test.lightbox.id.rawValue)
        #expect(claims["client_name"] as? String == "Lightbox")
        #expect(claims["login_hint"] as? String == "ada@example.com" && claims["prompt"] as? String == "login")
        #expect(claims["max_age"] as? Int == 600 && claims["ui_locales"] as? String == "nb en")
        #expect(claims["acr_values"] as? String == "urn:counterfoil:acr:two-factor urn:counterfoil:acr:passkey")
        let issued = try #require(claims["iat"] as? Int)
        #expect(claims["exp"] as? Int == issued + 300 && issued == Int(test.clock.wall.timeIntervalSince1970))
        let cookie = try #require(reply.cookies.first { $0.contains("-external-") })
        let id = try #require(claims["jti"] as? String)
        #expect(cookie.hasPrefix("__Host-counterfoil-external-\(id)="))
        for attribute in ["; HttpOnly", "; Secure", "; SameSite=Lax", "; Path=/"] {
            #expect(cookie.contains(attribute))
        }
    }

    @Test func `the first sign-in creates an account, and the next one finds it`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let attempt = Attempt(test, for: "openid profile photos.read")
        let consent = try await page.signIn(on: try await browser.open(attempt.url), in: &browser, at: test) {
            $0["name"] = "Ada Lovelace"
            $0["preferred_username"] = "Ada.L"
            $0["email"] = "Ada@Example.com"
            $0["email_verified"] = true
            $0["locale"] = "nb-NO"
            $0["amr"] = ["pwd", "otp", "pwd", "unknown"]
            $0["acr"] = "urn:counterfoil:acr:two-factor"
            $0["auth_time"] = Int(test.clock.wall.timeIntervalSince1970) - 90
        }
        #expect(try consent.consentPage.userDisplayName == "Ada Lovelace")
        let facts = try await Self.account(at: test)
        #expect(facts.user.username.rawValue == "ada.l" && facts.user.email?.rawValue == "ada@example.com")
        #expect(facts.user.profile.isEmailVerified == true && facts.user.profile.locale == "nb-NO")
        #expect(facts.user.passwordHash == nil && facts.user.role == nil)
        #expect(facts.identity.lastUsedAt == test.clock.now)
        let code = try await browser.decide(.allow, on: consent).code
        let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
        let claims = try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
        #expect(claims["acr"] as? String == "urn:counterfoil:acr:two-factor")
        #expect(claims["amr"] as? [String] == ["pwd", "otp"])
        #expect(claims["auth_time"] as? Int == Int(test.clock.wall.timeIntervalSince1970) - 90)
        #expect(claims["sub"] as? String == facts.user.id.rawValue)

        var other = test.browser()
        let again = try await page.signIn(on: try await other.open(attempt.url), in: &other, at: test) {
            $0["name"] = "Another name"
        }
        #expect(try again.consentPage.userDisplayName == "Ada Lovelace")
        #expect(try await test.store.users(after: nil, limit: 9).count == 2)
        let events = try await test.store.audit(AuditQuery(userID: facts.user.id)).map(\.event)
        #expect(events.contains { $0.action == .userCreated && $0.detail == "created by an external sign-in" })
        #expect(events.count { $0.kind == .signIn && $0.detail == "external sign-in" } == 2)
    }

    // Who controls an address or a name at the page must not control the account here.
    @Test func `no account is found by an email address, a username or an identifier`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        for (number, subject) in [test.alice.id.rawValue, "alice", "alice@example.com"].enumerated() {
            var browser = test.browser()
            let consent = try await page.signIn(
                subject, on: try await browser.open(Attempt(test).url), in: &browser, at: test
            ) {
                $0["preferred_username"] = "alice"
                $0["email"] = "alice@example.com"
                $0["email_verified"] = true
            }
            _ = try consent.consentPage
            let user = try await Self.account(subject, at: test).user
            #expect(user.id != test.alice.id && user.email == nil && user.profile.isEmailVerified == nil)
            #expect(user.username.rawValue == "alice-\(number + 2)")
        }
        #expect(try await test.store.identities(of: test.alice.id).isEmpty)
    }

    @Test func `the account gets the subject as its identifier only if it has the form of one`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        let key = try #require(ServerKey(bytes: Array(1...32)))
        let pseudonym = try RemovalTerms(of: test.alice.id, with: key).pseudonym
        for (subject, isKept) in [
            ("0042", true), ("auth0|42", true), ("per_0042", false), ("a b", false), ("app_lightbox", false),
            (pseudonym.rawValue, false),
        ] {
            var browser = test.browser()
            _ = try await page.signIn(
                subject, on: try await browser.open(Attempt(test).url), in: &browser, at: test
            ).consentPage
            let user = try await Self.account(subject, at: test).user
            #expect((user.id.rawValue == subject) == isKept, "\(subject)")
        }
    }

    @Test func `with known users only, a user without the identity gets no account`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server(users: .known)
        var browser = test.browser()
        let refused = try await page.signIn(on: try await browser.open(Attempt(test).url), in: &browser, at: test)
        #expect(refused.status == .forbidden)
        #expect(try refused.problemPage.explanation.contains("Example Shop"))
        #expect(try await test.store.users(after: nil, limit: 9).count == 1)
        let identity = UserIdentity(
            subject: try #require(ExternalSubject(issuer: TestSignInPage.issuer, subject: "customer-7")),
            userID: test.alice.id, createdAt: test.clock.now)
        #expect(try await test.store.addIdentity(identity, recording: []) == .added)
        let consent = try await page.signIn(on: try await browser.open(Attempt(test).url), in: &browser, at: test)
        #expect(try consent.consentPage.userDisplayName == "Alice")
    }

    @Test func `two tabs sign in, each for its own request`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let attempts = [Attempt(test, for: "photos.read"), Attempt(test, for: "photos.write")]
        let first = try await browser.open(attempts[0].url)
        let second = try await browser.open(attempts[1].url)
        let write = try await page.signIn(on: second, in: &browser, at: test)
        let read = try await page.signIn(on: first, in: &browser, at: test)
        #expect(try write.consentPage.permissions.map(\.scope) == ["photos.write"])
        #expect(try read.consentPage.permissions.map(\.scope) == ["photos.read"])
        #expect(!browser.cookies.keys.contains { $0.contains("-external-") })
    }

    @Test func `a browser keeps four sign-ins that wait for the page`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        for _ in 1...6 { _ = try await browser.open(Attempt(test).url) }
        let waiting = browser.cookies.filter { $0.key.contains("-external-") }
        #expect(waiting.count == 4)
        #expect(waiting.values.reduce(0) { $0 + $1.utf8.count } < 8192)
    }

    @Test func `a request of the maximum length is continued after the sign-in`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let state = String(repeating: "s", count: 8000)
        let attempt = Attempt(test, for: "photos.read").with("state", state)
            .with("unknown", String(repeating: "x", count: 18_000))
        let reply = try await browser.open(attempt.url)
        #expect(reply.cookies.allSatisfy { $0.utf8.count < 4096 })
        let consent = try await page.signIn(on: reply, in: &browser, at: test)
        let answer = try await browser.decide(.allow, on: consent)
        #expect(try answer.authorizationResponse.state?.exposed == state)
        _ = try answer.code
    }

    @Test func `a request that forbids pages gets an error and no redirect to the page`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        let error = try await Attempt(test, for: "openid").with("prompt", "none").error()
        #expect(error.code == .loginRequired)
    }

    @Test func `a request for a new sign-in goes to the page again, and is satisfied by it`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        _ = try await page.signIn(on: try await browser.open(Attempt(test).url), in: &browser, at: test).consentPage
        _ = try await browser.open(Attempt(test).url).consentPage
        let again = try await browser.open(Attempt(test).with("prompt", "login").url)
        _ = try await page.signIn(on: again, in: &browser, at: test).consentPage
        test.clock.advance(by: 700)
        let aged = try await browser.open(Attempt(test, for: "openid").with("max_age", "600").url)
        #expect(try page.claims(in: aged)["max_age"] == .integer(600))
        _ = try await page.signIn(on: aged, in: &browser, at: test).consentPage
    }

    @Test(arguments: ["prompt", "max_age"])
    func `a sign-in that is older than the request allows is refused`(parameter: String) async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let attempt = Attempt(test, for: "openid").with(parameter, parameter == "prompt" ? "login" : "300")
        let refused = try await page.signIn(on: try await browser.open(attempt.url), in: &browser, at: test) {
            $0["auth_time"] = Int(test.clock.wall.timeIntervalSince1970) - 600
        }
        #expect(refused.status == .badRequest)
        #expect(try refused.problemPage.continueLink?.address.contains("/oauth2/authorize") == true)
        #expect(try await test.store.users(after: nil, limit: 9).count == 1)
        let events = try await test.store.audit(AuditQuery(kind: .signIn)).map(\.event)
        #expect(events.first?.reason == .externalSignIn)
    }

    @Test func `a client that requires a stronger sign-in leads to the page again, and then gets an error`()
        async throws
    {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        _ = try await page.signIn(on: try await browser.open(Attempt(test).url), in: &browser, at: test).consentPage
        let claims = #"{"id_token":{"acr":{"essential":true,"value":"urn:counterfoil:acr:two-factor"}}}"#
        let attempt = Attempt(test, for: "openid").with("claims", claims)
        let weak = try await page.signIn(on: try await browser.open(attempt.url), in: &browser, at: test)
        #expect(try weak.redirectedError.code == .unmetAuthenticationRequirements)
        let strong = try await page.signIn(on: try await browser.open(attempt.url), in: &browser, at: test) {
            $0["acr"] = "urn:counterfoil:acr:two-factor"
        }
        _ = try strong.consentPage
    }

    @Test func `a new user accepts the terms before anything else`() async throws {
        let page = try TestSignInPage()
        let terms = try AbsoluteURI(parsing: "https://shop.example.com/terms")
        let test = try await page.server {
            $0.termsURI = terms
            $0.termsVersion = "1"
        }
        var browser = test.browser()
        let reply = try await page.signIn(on: try await browser.open(Attempt(test).url), in: &browser, at: test)
        #expect(reply.page is TermsPage)
        #expect(try await Self.account(at: test).user.acceptedTerms == nil)
    }

    @Test func `a form of the page becomes a request that brings the cookies`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let reply = try await browser.open(Attempt(test).url)
        let form = FormParameters(["response": try page.response(to: reply, at: test)])
        // A form of another site brings no cookies.
        var without = test.browser()
        let redirect = try await without.send(.post, to: "/sign-in/external", form: form)
        let location = try #require(redirect.location)
        #expect(redirect.status == .seeOther && location.hasPrefix("https://id.example.com/sign-in/external?response="))
        _ = try await browser.open(location).consentPage
        let twice = try await browser.submit(form, to: "/sign-in/external")
        #expect(twice.status == .badRequest)
        #expect(try twice.problemPage.title == "This sign-in can't be completed")
    }

    @Test func `the sign-in page of the console has a link to the page, and leads back to where the user was`()
        async throws
    {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let signIn = try await browser.open("/sign-in?to=/account/sessions").signInPage
        let link = try #require(signIn.external)
        #expect(link.name == "Example Shop")
        let reply = try await page.signIn(on: try await browser.open(link.address), in: &browser, at: test)
        _ = try reply.sessionsPage
        #expect(try await browser.open("/account").accountPage.user.username == "customer-7")
    }

    @Test func `a user of a device signs in at the page, and comes back to the form with the code`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        let device = try await TestDevice(test)
        let codes = try await device.codes()
        var browser = test.browser()
        let signIn = try await browser.type(userCode: codes.userCode).signInPage
        let link = try #require(signIn.external)
        let reply = try await page.signIn(on: try await browser.open(link.address), in: &browser, at: test)
        _ = try reply.deviceCodePage
        #expect(try await browser.open("/account").accountPage.user.username == "customer-7")
    }

    @Test func `a server without the setting has no endpoint, no link and its own sign-in page`() async throws {
        let test = try await TestServer()
        var browser = test.browser()
        #expect(try await browser.open("/sign-in/external").status == .notFound)
        #expect(try await browser.open("/sign-in").signInPage.external == nil)
        #expect(try await browser.open(Attempt(test).url).signInPage.external == nil)
    }
}
