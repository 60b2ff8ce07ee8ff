import CounterfoilConsole
import CounterfoilPages
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The settings for libraries that a developer can change in the form of a client.
struct ClientLibrarySettingsTests {
    private static let web = Developer.form(type: "web", redirectURIs: "https://app.example.com/callback")

    private static func chosen(_ choices: FormChoices?) -> [String] {
        (choices?.choices ?? []).filter(\.isChosen).map(\.value)
    }

    // The form cannot add the exception, and a developer can change everything else.
    @Test func `a redirect URI that an administrator accepted outlives the changes of the developer`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let uri = "lightbox://oauth"
        let form = Developer.form(type: "native", redirectURIs: "http://127.0.0.1/callback")
        let client = try await developer.registered(form)
        let accepted = try RedirectURI(uri)
        try await test.change(client) { $0.redirectURIs = [accepted] }
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
        func changed(to uri: String) -> FormParameters {
            Developer.form(type: "native", redirectURIs: uri)
                .adding("ticket", edit.ticket).adding("revision", String(edit.revision))
        }
        let refused = try await developer.browser.submit(changed(to: uri + "x"), to: edit.action)
        #expect(refused.status == .badRequest)
        _ = try await developer.browser.submit(changed(to: uri), to: edit.action).clientPage
        #expect(try await test.store.client(client.id)?.redirectURIs.map(\.rawValue) == [uri])
    }

    @Test(arguments: [
        ("native", ["s256"], "s256", "ES256", "true"), ("spa", ["s256"], "s256", "ES256", "false"),
        ("web", ["s256-or-nonce", "s256"], "s256-or-nonce", "RS256", "true"),
    ])
    func `the form shows the defaults of the type, each with its reason`(
        type: String, offered: [String], pkce: String, algorithm: String, claims: String
    ) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let page = try await developer.browser.open("/apps/new?type=\(type)").clientFormPage
        let settings = try #require(page.settings)
        #expect(settings.pkce?.choices.map(\.value) == offered)
        #expect(Self.chosen(settings.pkce) == [pkce])
        #expect(Self.chosen(settings.idTokenAlgorithm) == [algorithm])
        #expect(Self.chosen(settings.userClaimsInIDToken) == [claims])
        for choices in [settings.pkce, settings.idTokenAlgorithm, settings.userClaimsInIDToken] {
            #expect(choices?.choices.allSatisfy { $0.detail?.isEmpty == false } == true)
        }
    }

    @Test func `no user signs in to a service, so its form has no such settings`() async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        #expect(try await developer.browser.open("/apps/new?type=service").clientFormPage.settings == nil)
        let device = try await developer.browser.open("/apps/new?type=device").clientFormPage
        #expect(device.settings?.pkce == nil && device.settings?.idTokenAlgorithm != nil)
    }

    @Test func `a developer changes the settings, and the client keeps the trust of the administrator`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(Self.web)
        try await test.change(client) { $0.policy.isVouchedFor = true }
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
        let form = Self.web.adding("ticket", edit.ticket).adding("revision", String(edit.revision))
            .adding("pkce", "s256").adding("id_token_signed_response_alg", "EdDSA")
            .adding("user_claims_in_id_token", "false")
        _ = try await developer.browser.submit(form, to: edit.action).clientPage
        let policy = try #require(try await test.store.client(client.id)?.policy)
        #expect(policy.pkce == .s256)
        #expect(policy.idTokenAlgorithm == .edDSA)
        #expect(!policy.putsUserClaimsInIDToken)
        #expect(policy.isVouchedFor)
    }

    @Test(arguments: [
        ("native", "pkce", "s256-or-nonce"), ("spa", "pkce", "s256-or-nonce"), ("web", "pkce", "s256-or-plain"),
        ("web", "pkce", "exempt-until:2099-01-31"), ("web", "pkce", "none"),
        ("web", "id_token_signed_response_alg", "HS256"), ("web", "id_token_signed_response_alg", "none"),
        ("web", "user_claims_in_id_token", "on"),
    ])
    func `an invalid setting is refused at its field`(type: String, field: String, value: String) async throws {
        var developer = try await Developer("dora", of: try await TestServer())
        let form = Developer.form(type: type, redirectURIs: "https://app.example.com/callback").adding(field, value)
        let reply = try await developer.register(form)
        #expect(reply.status == .badRequest)
        #expect(try reply.clientFormPage.problems.map(\.field) == [field])
    }

    // An administrator's exception stays, and the developer can end it.
    @Test func `a developer can keep or end an exemption from PKCE, but not make one`() async throws {
        let test = try await TestServer()
        var developer = try await Developer("dora", of: test)
        let client = try await developer.registered(Self.web)
        try await test.change(client) { $0.policy.pkce = .s256OrPlain }
        let edit = try await developer.browser.open("/apps/\(client.id)/edit").clientFormPage
        #expect(edit.settings?.pkce?.choices.map(\.value) == ["s256-or-nonce", "s256", ""])
        #expect(Self.chosen(edit.settings?.pkce) == [""])
        let form = Self.web.adding("ticket", edit.ticket)
        let kept = form.adding("revision", String(edit.revision)).adding("pkce", "")
        _ = try await developer.browser.submit(kept, to: edit.action).clientPage
        #expect(try await test.store.client(client.id)?.policy.pkce == .s256OrPlain)
        let ended = form.adding("revision", String(edit.revision + 1)).adding("pkce", "s256-or-nonce")
        _ = try await developer.browser.submit(ended, to: edit.action).clientPage
        #expect(try await test.store.client(client.id)?.policy.pkce == .s256OrNonce)
    }

    // Also an administrator cannot let a client without a secret replace PKCE by a nonce.
    @Test(arguments: [ClientType.native, .singlePage, .device])
    func `the policy s256-or-nonce is for web clients only`(type: ClientType) {
        var draft = PolicyDraft(.standard(for: type))
        draft.pkce = "s256-or-nonce"
        let rules = ClientRules(issuer: nil, allowsDevelopment: true, formats: .standard)
        let refusal = #expect(throws: ClientRegistrationRefusal.self) {
            try rules.check(
                draft, of: type, redirectURIs: [], postLogoutRedirectURIs: [], scope: Scope(), now: .distantPast)
        }
        #expect(refusal?.problems.map(\.field) == [.pkce])
    }
}
