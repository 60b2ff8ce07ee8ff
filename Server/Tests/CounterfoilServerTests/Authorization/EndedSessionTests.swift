@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A session that ends, or a consent that is revoked, during the authorization request that depends on it.
struct EndedSessionTests {
    private static let callback = "https://darkroom.example/cb"

    /// A browser with a remembered consent, at a server whose next approval comes after the end of the session.
    private struct EndedSessionFixture {
        let test: TestServer
        let store: TestStore
        var browser: ScriptedUserAgent
        let attempt: Attempt

        init() async throws {
            store = TestStore()
            test = try await TestServer(store: store)
            let client = try await test.register("Darkroom", type: .web, redirectURIs: [EndedSessionTests.callback])
            attempt = Attempt(test, by: client, at: EndedSessionTests.callback)
            browser = test.browser()
            _ = try await attempt.authorize(with: &browser)
        }

        /// Ends every session of the user after the next request has read its session.
        func endBeforeNextApproval() {
            let (store, alice, now) = (store, test.alice.id, test.clock.now)
            store.before(.recordConsent) {
                _ = try? await store.signOutEverywhere(alice, except: nil, at: now)
            }
        }
    }

    // The user signs in again, and the client gets no error.
    @Test func `a request whose session ends meanwhile leads to the sign-in page`() async throws {
        var fixture = try await EndedSessionFixture()
        fixture.endBeforeNextApproval()
        let reply = try await fixture.browser.send(.get, to: fixture.attempt.url)
        #expect(reply.status == .seeOther)
        let location = try #require(reply.location)
        #expect(location.hasPrefix("https://id.example.com/oauth2/authorize?"))
        let page = try await fixture.browser.open(location)
        #expect(try page.signInPage.clientName == "Darkroom")
        let answer = try await fixture.browser.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(try answer.code.exposed.utf8.count == 43)
    }

    // OpenID Connect Core §3.1.2.6
    @Test func `a request with prompt=none whose session ends meanwhile gets login_required`() async throws {
        var fixture = try await EndedSessionFixture()
        fixture.endBeforeNextApproval()
        let reply = try await fixture.browser.send(.get, to: fixture.attempt.with("prompt", "none").url)
        #expect(try reply.redirectedError.code == .loginRequired)
    }

    @Test func `a consent form whose session ends meanwhile leads to the sign-in page`() async throws {
        var fixture = try await EndedSessionFixture()
        let question = try await fixture.browser.open(fixture.attempt.with("prompt", "consent").url)
        fixture.endBeforeNextApproval()
        let page = try question.consentPage
        let reply = try await fixture.browser.send(.post, to: page.action, form: page.form(.allow))
        #expect(reply.status == .seeOther)
        #expect(try await fixture.browser.open(try #require(reply.location)).signInPage.clientName == "Darkroom")
    }

    @Test func `a request whose remembered consent is revoked meanwhile asks the user`() async throws {
        for isSilent in [true, false] {
            var fixture = try await EndedSessionFixture()
            let (store, alice, client, now) = (
                fixture.store, fixture.test.alice.id, fixture.attempt.client.id, fixture.test.clock.now
            )
            store.before(.recordConsent) {
                _ = try? await store.narrowConsent(of: alice, to: client, keeping: Scope(), at: now)
            }
            let attempt = isSilent ? fixture.attempt.with("prompt", "none") : fixture.attempt
            let reply = try await fixture.browser.send(.get, to: attempt.url)
            if isSilent {
                #expect(try reply.redirectedError.code == .consentRequired)
            } else {
                let page = try await fixture.browser.open(try #require(reply.location))
                #expect(try page.consentPage.clientName == "Darkroom")
            }
            #expect(try await store.consent(of: alice, to: client) == nil)
        }
    }
}
