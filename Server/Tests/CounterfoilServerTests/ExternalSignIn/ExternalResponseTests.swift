import CounterfoilConsole
@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Crypto
import Foundation
import HTTPTypes
import Testing

/// Responses of the page of the owner that sign no user in.
struct ExternalResponseTests {
    /// A rule that a response breaks, and the words of the audit log about it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: String
        let change: @Sendable (inout [String: Any]) -> Void

        init(_ name: String, _ words: String, _ change: @escaping @Sendable (inout [String: Any]) -> Void) {
            (testDescription, self.words, self.change) = (name, words, change)
        }

        private static func time(_ claims: [String: Any]) -> Int { claims["iat"] as? Int ?? 0 }

        static let all = [
            Fault("another issuer", "(iss)") { $0["iss"] = "https://evil.example" },
            Fault("an issuer in capitals", "(iss)") { $0["iss"] = "https://SHOP.example.com" },
            Fault("no issuer", "iss") { $0["iss"] = nil },
            Fault("another audience", "(aud)") { $0["aud"] = "https://other.example" },
            Fault("no audience", "aud") { $0["aud"] = nil },
            Fault("two audiences", "(aud)") { $0["aud"] = ["https://id.example.com", "https://other.example"] },
            Fault("no expiry", "exp") { $0["exp"] = nil },
            Fault("no time of issue", "iat") { $0["iat"] = nil },
            Fault("no subject", "sub") { $0["sub"] = nil },
            Fault("an empty subject", "sub") { $0["sub"] = "" },
            Fault("a subject of 256 bytes", "sub") { $0["sub"] = String(repeating: "x", count: 256) },
            Fault("a subject with a control character", "sub") { $0["sub"] = "customer\u{0}7" },
            Fault("a subject that is a number", "sub") { $0["sub"] = 7 },
            Fault("no time of the sign-in", "auth_time") { $0["auth_time"] = nil },
            Fault("a sign-in in the future", "not yet valid") { $0["auth_time"] = time($0) + 120 },
            Fault("expired", "expired") {
                $0["exp"] = time($0) - 61
                $0["iat"] = time($0) - 120
            },
            Fault("valid for too long", "exp") { $0["exp"] = time($0) + 3600 },
            Fault("of the future", "not yet valid") { $0["iat"] = time($0) + 120 },
            Fault("no request", "nonce") { $0["nonce"] = nil },
            Fault("amr that is no list", "amr") { $0["amr"] = "pwd" },
        ]
    }

    @Test(arguments: Fault.all)
    func `a response that breaks a rule signs no user in`(fault: Fault) async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let redirect = try await browser.open(Attempt(test).url)
        let reply = try await page.signIn(on: redirect, in: &browser, at: test, changing: fault.change)
        #expect(reply.status == .badRequest)
        let problem = try reply.problemPage
        #expect(problem.title == "The sign-in failed")
        #expect(problem.advice.contains("https://id.example.com/sign-in"))
        let event = try #require(try await test.store.audit(AuditQuery(kind: .signIn, limit: 1)).first?.event)
        #expect(event.reason == .externalSignIn)
        #expect(event.explanation?.contains(fault.words) == true, "\(event.explanation ?? "")")
        #expect(browser.cookies["__Host-counterfoil-session"] == nil)
        #expect(try await test.store.users(after: nil, limit: 9).count == 1)
    }

    @Test(arguments: [SigningAlgorithm.es256, .rs256, .edDSA, .ed25519])
    func `a key of each algorithm signs responses`(algorithm: SigningAlgorithm) async throws {
        let page = try TestSignInPage(algorithm)
        let test = try await page.server()
        var browser = test.browser()
        _ = try await page.signIn(on: try await browser.open(Attempt(test).url), in: &browser, at: test).consentPage
    }

    @Test func `a response that another key, another algorithm or none has signed is refused`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let redirect = try await browser.open(Attempt(test).url)
        let valid = try page.response(to: redirect, at: test)
        let other = try TestSignInPage()
        var (sameID, idToken) = (other, page)
        sameID.key = try SigningKey(
            algorithm: .es256, privateRepresentation: sameID.key.privateRepresentation, id: page.key.id)
        idToken.type = .idToken
        let parts = valid.split(separator: ".").map(String.init)
        func forged(_ header: String, _ signature: [UInt8]) -> String {
            [Base64URL.encode(Array(header.utf8)), parts[1], Base64URL.encode(signature)].joined(separator: ".")
        }
        let header = #"{"alg":"HS256","typ":"sign-in-response+jwt"}"#
        let signed = "\(Base64URL.encode(Array(header.utf8))).\(parts[1])"
        // RFC 8725 §2.1: the public key as the secret of a message authentication code.
        let secret = SymmetricKey(data: try JSONEncoder().encode(page.key.publicKey))
        let code = Array(HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: secret))
        let responses = [
            try other.response(to: redirect, at: test), try sameID.response(to: redirect, at: test),
            try idToken.response(to: redirect, at: test), forged(header, code),
            forged(#"{"alg":"none","typ":"sign-in-response+jwt"}"#, []),
            [parts[0], parts[1], Base64URL.encode([UInt8](repeating: 1, count: 64))].joined(separator: "."),
            "a.b.c", String(repeating: "x", count: 20_000),
        ]
        for response in responses {
            let reply = try await browser.open(page.address(of: response, at: test))
            #expect(try reply.problemPage.title == "The sign-in failed")
        }
        #expect(browser.cookies["__Host-counterfoil-session"] == nil)
        // None of them has used the request up.
        _ = try await browser.open(page.address(of: valid, at: test)).consentPage
    }

    @Test func `a response counts in the browser that has begun the sign-in`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var (attacker, victim) = (test.browser(), test.browser())
        _ = try await victim.open(Attempt(test).url)
        let response = try page.response(to: try await attacker.open(Attempt(test).url), at: test)
        let reply = try await victim.open(page.address(of: response, at: test))
        #expect(reply.status == .badRequest)
        #expect(try reply.problemPage.title == "This sign-in can't be completed")
        #expect(victim.cookies["__Host-counterfoil-session"] == nil)
        // The cookie of another request does not help.
        let cookie = try #require(victim.cookies.first { $0.key.contains("-external-") })
        let name = try #require(attacker.cookies.keys.first { $0.contains("-external-") })
        victim.cookies[name] = cookie.value
        #expect(try await victim.open(page.address(of: response, at: test)).status == .badRequest)
        _ = try await attacker.open(page.address(of: response, at: test)).consentPage
    }

    @Test func `a response signs in once, at every server on the store`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        let setting = try page.setting()
        let second = try await TestServer(store: test.store, clock: test.clock) { $0.externalSignIn = setting }
        var browser = test.browser()
        let redirect = try await browser.open(Attempt(test).url)
        let stolen = browser.cookies
        let response = try page.response(to: redirect, at: test)
        // A second response to the same request is none either.
        let other = try page.response(to: redirect, of: "customer-8", at: test)
        _ = try await browser.open(page.address(of: response, at: test)).consentPage
        for text in [response, other] {
            for server in [test, second] {
                var thief = server.browser()
                thief.cookies = stolen
                let reply = try await thief.open(page.address(of: text, at: test))
                #expect(try reply.problemPage.title == "This sign-in can't be completed")
                #expect(thief.cookies["__Host-counterfoil-session"] == nil)
            }
        }
        let event = try #require(try await test.store.audit(AuditQuery(kind: .signIn, limit: 1)).first?.event)
        #expect(event.reason == .alreadyAnswered)
    }

    @Test func `a sign-in is forgotten after the lifetime of a page`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let redirect = try await browser.open(Attempt(test).url)
        test.clock.advance(by: TimeInterval(test.server.settings.pageLifetime))
        let reply = try await page.signIn(on: redirect, in: &browser, at: test)
        #expect(try reply.problemPage.title == "This sign-in can't be completed")
    }

    @Test func `a withdrawn key counts no more, and neither does a response after the setting is off`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let redirect = try await browser.open(Attempt(test).url)
        let response = try page.response(to: redirect, at: test)
        var settings = test.server.settings
        settings.externalSignIn = try TestSignInPage().setting()
        test.server.replaceSettings(by: settings)
        #expect(try await browser.open(page.address(of: response, at: test)).status == .badRequest)
        settings.externalSignIn = nil
        test.server.replaceSettings(by: settings)
        #expect(try await browser.open(page.address(of: response, at: test)).status == .notFound)
        _ = try await browser.open(Attempt(test).url).signInPage
    }

    @Test(arguments: ["access_denied", "server_error", "<script>alert(1)</script>"])
    func `a page that signs no user in leads to a page with a way to try again`(code: String) async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let redirect = try await browser.open(Attempt(test).url)
        let reply = try await page.signIn(on: redirect, in: &browser, at: test) {
            $0["error"] = code
            $0["sub"] = nil
        }
        #expect(reply.status == .forbidden)
        #expect(try !reply.html().contains("<script>"))
        let again = try #require(try reply.problemPage.continueLink)
        #expect(again.address == Attempt(test).url || again.address.contains("/oauth2/authorize?"))
        #expect(try page.claims(in: try await browser.open(again.address))["client_id"] != nil)
        // The parameter alone is no response: anyone can send it.
        let bare = try await browser.open("/sign-in/external?error=access_denied")
        #expect(bare.status == .forbidden)
        #expect(try bare.problemPage.continueLink?.address == "/sign-in")
    }

    @Test func `markup and control characters in names are not taken, or are shown as text`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        let reply = try await page.signIn(on: try await browser.open(Attempt(test).url), in: &browser, at: test) {
            $0["name"] = "<b>Ada</b>"
            $0["given_name"] = "Ada\u{0}"
            $0["family_name"] = String(repeating: "x", count: 101)
            $0["picture"] = "javascript:alert(1)"
            $0["locale"] = "no such language"
            $0["email"] = "not an address"
            $0["preferred_username"] = "../../etc"
        }
        #expect(try !reply.html().contains("<b>Ada</b>"))
        let subject = try #require(ExternalSubject(issuer: TestSignInPage.issuer, subject: "customer-7"))
        let user = try #require(try await test.store.identity(subject)?.user)
        #expect(user.displayName == "<b>Ada</b>" && user.email == nil && user.profile == UserProfile())
        #expect(user.username.rawValue == "etc")
    }

    @Test func `an unknown acr counts as a password`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        _ = try await page.signIn(on: try await browser.open(Attempt(test).url), in: &browser, at: test) {
            $0["acr"] = "urn:example:gold"
        }
        let subject = try #require(ExternalSubject(issuer: TestSignInPage.issuer, subject: "customer-7"))
        let user = try #require(try await test.store.identity(subject)?.user)
        let session = try #require(try await test.store.sessions(of: user.id).first)
        #expect(session.methods.context == .password && session.methods.references.isEmpty)
    }

    @Test func `a disabled account is refused, also if it is disabled during the sign-in`() async throws {
        let page = try TestSignInPage()
        let test = try await page.server()
        var browser = test.browser()
        _ = try await page.signIn(on: try await browser.open(Attempt(test).url), in: &browser, at: test).consentPage
        let subject = try #require(ExternalSubject(issuer: TestSignInPage.issuer, subject: "customer-7"))
        let user = try #require(try await test.store.identity(subject)?.user)
        let redirect = try await browser.open(Attempt(test).with("prompt", "login").url)
        #expect(try await test.store.disableUser(user.id, at: test.clock.now, recording: []) == .changed)
        let reply = try await page.signIn(on: redirect, in: &browser, at: test)
        #expect(reply.status == .forbidden)
        let event = try #require(try await test.store.audit(AuditQuery(kind: .signIn, limit: 1)).first?.event)
        #expect(event.reason == .disabled && event.userID == user.id)
        #expect(try await test.store.sessions(of: user.id).isEmpty)
    }
}
