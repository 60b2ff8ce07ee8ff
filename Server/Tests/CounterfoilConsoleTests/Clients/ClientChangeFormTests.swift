import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// Changing the registration of a client at My Apps.
struct ClientChangeFormTests {
    @Test func `a change takes effect at the next request`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(Developer.form(redirectURIs: "http://127.0.0.1/callback"))
        let attempt = Attempt(test, by: client, at: "http://[::1]:5000/callback")
        #expect(try await attempt.firstReply().status == .badRequest)
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
        #expect(edit.name.value == "Lightbox Two")
        var form = Developer.form("Lightbox Three", redirectURIs: "http://[::1]/callback")
        form.append("ticket", edit.ticket)
        form.append("revision", String(edit.revision))
        let page = try await developer.browser.submit(form, to: edit.action).clientPage
        #expect(page.client.name == "Lightbox Three")
        #expect(page.notice != nil)
        #expect(try await attempt.firstReply().status == .ok)
    }

    @Test func `the second of two changes from one page is reported as a conflict`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered()
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
        func form(_ name: String, _ edit: ClientFormPage) -> FormParameters {
            Developer.form(name).adding("ticket", edit.ticket).adding("revision", String(edit.revision))
        }
        _ = try await developer.browser.submit(form("First", edit), to: edit.action).clientPage
        let late = try await developer.browser.submit(form("Second", edit), to: edit.action)
        #expect(late.status == .conflict)
        let page = try late.clientFormPage
        #expect(page.name.value == "Second")
        #expect(try await test.store.client(client.id)?.presentation.name == "First")
        // After the report, the user can still save.
        _ = try await developer.browser.submit(form("Second", page), to: page.action).clientPage
        #expect(try await test.store.client(client.id)?.presentation.name == "Second")
    }

    // An administrator verified the redirect URIs that were registered.
    @Test func `a developer who moves a single-page app loses the verification of its redirect URIs`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let redirectURI = "https://album.example.com/callback"
        let client = try await developer.registered(Developer.form(type: "spa", redirectURIs: redirectURI))
        var policy = client.policy
        policy.isVouchedFor = true
        policy.isClaimedHTTPSVerified = true
        try await test.setPolicy(policy, of: client.id)
        for (uris, isVerified) in [(redirectURI, true), (redirectURI + "\nhttps://evil.example/callback", false)] {
            let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
            let form = Developer.form(type: "spa", redirectURIs: uris)
                .adding("ticket", edit.ticket).adding("revision", String(edit.revision))
            _ = try await developer.browser.submit(form, to: edit.action).clientPage
            let changed = try #require(try await test.store.client(client.id)).policy
            #expect(changed.isClaimedHTTPSVerified == isVerified && changed.isVouchedFor == isVerified)
        }
    }

    // An administrator vouched for the name that was shown.
    @Test func `a developer who changes the name loses the verification`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let redirectURI = "https://lightbox.example.com/callback"
        let client = try await developer.registered(Developer.form(redirectURIs: redirectURI))
        var policy = client.policy
        policy.isVouchedFor = true
        policy.isClaimedHTTPSVerified = true
        try await test.setPolicy(policy, of: client.id)

        func change(_ name: String, _ redirectURIs: String) async throws -> ClientPolicy {
            let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
            let form = Developer.form(name, redirectURIs: redirectURIs)
                .adding("ticket", edit.ticket).adding("revision", String(edit.revision))
            _ = try await developer.browser.submit(form, to: edit.action).clientPage
            return try #require(try await test.store.client(client.id)).policy
        }
        #expect(try await change("Lightbox Two", redirectURI).isVouchedFor)
        let renamed = try await change("Google", redirectURI)
        #expect(!renamed.isVouchedFor && renamed.isClaimedHTTPSVerified)
        let moved = try await change("Google", "https://evil.example/callback")
        #expect(!moved.isClaimedHTTPSVerified)

        policy.isFirstParty = true
        try await test.setPolicy(policy, of: client.id)
        let kept = try await change("Google", "https://evil.example/callback")
        #expect(kept.isFirstParty && kept.isVouchedFor)
        let again = try await change("Google Photos", "https://evil.example/callback")
        #expect(!again.isFirstParty && !again.isVouchedFor)
    }
}
