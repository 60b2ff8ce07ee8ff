import CounterfoilProtocol
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes
import Testing

@testable import CounterfoilServer

/// The consents of unregistered clients that are remembered.
struct UnregisteredAssuranceTests {
    private static let ownHost = "https://apps.viewer.co.uk/callback"

    /// A client with a document whose key is published, and the browser in which alice has allowed it something.
    private static func allowed(
        at redirectURI: String = ownHost, _ members: [String: JSONValue] = DocumentClient.authenticating
    ) async throws -> (viewer: DocumentClient, browser: ScriptedUserAgent) {
        let viewer = try await DocumentClient(redirectURIs: [redirectURI], members)
        viewer.publishKey(try SigningKey.generate(.es256))
        var browser = try await viewer.browser()
        let page = try await browser.open(viewer.attempt(at: redirectURI).url)
        _ = try await browser.decide(.allow, on: page).code
        return (viewer, browser)
    }

    // RFC 8252 §8.6
    @Test(arguments: [
        ("https://apps.viewer.co.uk/callback", true),
        ("https://viewer.co.uk/callback", false), ("https://www.apps.viewer.co.uk/callback", false),
        ("https://apps.viewer.co.uk:8443/callback", false), ("https://apps.viewer.co.uk.attacker.example/cb", false),
    ])
    func `a consent is remembered for a client with a key at the host of its document`(
        redirectURI: String, isRemembered: Bool
    ) async throws {
        var (viewer, browser) = try await Self.allowed(at: redirectURI)
        let again = try await browser.open(viewer.attempt(at: redirectURI).url)
        let silent = try await browser.open(viewer.attempt(at: redirectURI).with("prompt", "none").url)
        if isRemembered {
            #expect(again.status == .seeOther)
            #expect(try silent.code.exposed.utf8.count == 43)
        } else {
            #expect(try again.consentPage.earlierConsent == "You allowed this on 15 January 2027.")
            #expect(try silent.redirectedError.code == .consentRequired)
        }
    }

    // OpenID Connect Core §3.1.2.6
    @Test(arguments: [
        ["http://127.0.0.1/callback", "http://127.0.0.1:51004/callback"],
        ["uk.co.viewer:/callback", "uk.co.viewer:/callback"], [ownHost, ownHost],
    ])
    func `a client without authentication is asked about each time`(uris: [String]) async throws {
        let viewer = try await DocumentClient(redirectURIs: [uris[0]])
        var browser = try await viewer.browser()
        let attempt = viewer.attempt(at: uris[1])
        _ = try await browser.decide(.allow, on: try await browser.open(attempt.url)).code
        _ = try await browser.open(attempt.url).consentPage
        #expect(try await browser.open(attempt.with("prompt", "none").url).redirectedError.code == .consentRequired)
    }

    // No policy changes it, because no person has registered the client.
    @Test(arguments: [ClientType.web, .singlePage, .native])
    func `a client that registered itself is asked about each time`(type: ClientType) async throws {
        let viewer = try await DocumentClient()
        let client = try await DocumentClient.selfRegistered(
            in: viewer.test, type: type, redirectURIs: ["https://viewer.example/cb"])
        try await viewer.test.change(client) { client in
            client.policy.isFirstParty = true
            client.policy.isVouchedFor = true
            client.policy.isClaimedHTTPSVerified = true
        }
        var browser = try await viewer.browser()
        let attempt = Attempt(viewer.test, by: client, at: "https://viewer.example/cb")
        _ = try await browser.decide(.allow, on: try await browser.open(attempt.url)).code
        _ = try await browser.open(attempt.url).consentPage
        #expect(try await browser.open(attempt.with("prompt", "none").url).redirectedError.code == .consentRequired)
    }

    // draft-ietf-oauth-client-id-metadata-document §6.3
    @Test(arguments: [
        ["client_name": JSONValue.string("Bank")], ["logo_uri": .string("https://apps.viewer.co.uk/other.png")],
        ["redirect_uris": .array([.string(ownHost), .string("https://apps.viewer.co.uk/other")])],
        ["jwks_uri": .string("https://apps.viewer.co.uk/other.json")],
        ["policy_uri": .string("https://apps.viewer.co.uk/privacy")],
    ])
    func `a changed document voids a remembered consent`(change: [String: JSONValue]) async throws {
        var (viewer, browser) = try await Self.allowed()
        viewer.test.clock.advance(by: 3600)
        #expect(try await browser.open(viewer.attempt(at: Self.ownHost).url).status == .seeOther)
        try viewer.publish(change)
        // The cached document is still used.
        #expect(try await browser.open(viewer.attempt(at: Self.ownHost).url).status == .seeOther)
        viewer.test.clock.advance(by: 3600)
        let attempt = viewer.attempt(at: Self.ownHost)
        #expect(try await browser.open(attempt.with("prompt", "none").url).redirectedError.code == .consentRequired)
        let page = try await browser.open(attempt.url)
        #expect(try page.consentPage.earlierConsent == "It has changed since you allowed it on 15 January 2027.")
        _ = try await browser.decide(.allow, on: page).code
        #expect(try await browser.open(attempt.url).status == .seeOther)
    }

    // A client rotates its keys at their URL, which changes nothing that a user knows.
    @Test func `new keys at the same URL keep a remembered consent, other keys in the document void it`() async throws {
        var (viewer, browser) = try await Self.allowed()
        let attempt = viewer.attempt(at: Self.ownHost)
        viewer.publishKey(try SigningKey.generate(.es256))
        viewer.test.clock.advance(by: 3600)
        #expect(try await browser.open(attempt.url).status == .seeOther)

        let keys = try [SigningKey.generate(.es256), SigningKey.generate(.es256)].map { key in
            JSONValue.object(try JSONReader.object(JSONWebKeySet(keys: [key.publicKey]).encoded()))
        }
        for key in keys {
            try viewer.publish(["jwks_uri": .null, "jwks": key])
            viewer.test.clock.advance(by: 3600)
            let page = try await browser.open(attempt.url)
            #expect(try page.consentPage.earlierConsent?.hasPrefix("It has changed") == true)
            _ = try await browser.decide(.allow, on: page).code
            #expect(try await browser.open(attempt.url).status == .seeOther)
        }
    }

    // The user allowed another document than the current one.
    @Test func `a page that was shown before the document changed gives no code`() async throws {
        var viewer = try await DocumentClient()
        var browser = try await viewer.browser()
        let page = try await browser.open(viewer.attempt().url)
        try viewer.publish(["client_name": .string("Bank")])
        viewer.test.clock.advance(by: 600)
        let reply = try await browser.decide(.allow, on: page)
        #expect((try? reply.code) == nil)
        #expect(try await browser.open(viewer.attempt().url).consentPage.unregisteredClient?.name == "Bank")
    }
}
