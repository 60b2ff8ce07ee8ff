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
    private struct Visit {
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
        var visit = try await Visit()
        visit.endBeforeNextApproval()
        let reply = try await visit.browser.send(.get, to: visit.attempt.url)
        #expect(reply.status == .seeOther)
        let location = try #require(reply.location)
        #expect(location.hasPrefix("https://id.example.com/oauth2/authorize?"))
        let page = try await visit.browser.open(location)
        #expect(try page.signInPage.applicationName == "Darkroom")
        let answer = try await visit.browser.signIn(on: page, username: "alice", password: TestServer.password)
        #expect(try answer.code.exposed.utf8.count == 43)
    }

    // OpenID Connect Core §3.1.2.6
    @Test func `a request with prompt=none whose session ends meanwhile gets login_required`() async throws {
        var visit = try await Visit()
        visit.endBeforeNextApproval()
        let reply = try await visit.browser.send(.get, to: visit.attempt.with("prompt", "none").url)
        #expect(try reply.redirectedError.code == .loginRequired)
    }

    @Test func `a consent form whose session ends meanwhile leads to the sign-in page`() async throws {
        var visit = try await Visit()
        let question = try await visit.browser.open(visit.attempt.with("prompt", "consent").url)
        visit.endBeforeNextApproval()
        let page = try question.consentPage
        let reply = try await visit.browser.send(.post, to: page.action, form: page.form(.allow))
        #expect(reply.status == .seeOther)
        #expect(try await visit.browser.open(try #require(reply.location)).signInPage.applicationName == "Darkroom")
    }

    @Test func `a request whose remembered consent is revoked meanwhile asks the user`() async throws {
        for isSilent in [true, false] {
            var visit = try await Visit()
            let (store, alice, client, now) = (
                visit.store, visit.test.alice.id, visit.attempt.client.id, visit.test.clock.now
            )
            store.before(.recordConsent) {
                _ = try? await store.narrowConsent(of: alice, to: client, keeping: Scope(), at: now)
            }
            let attempt = isSilent ? visit.attempt.with("prompt", "none") : visit.attempt
            let reply = try await visit.browser.send(.get, to: attempt.url)
            if isSilent {
                #expect(try reply.redirectedError.code == .consentRequired)
            } else {
                let page = try await visit.browser.open(try #require(reply.location))
                #expect(try page.consentPage.applicationName == "Darkroom")
            }
            #expect(try await store.consent(of: alice, to: client) == nil)
        }
    }
}
