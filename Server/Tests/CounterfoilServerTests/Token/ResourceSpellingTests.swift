import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// A resource indicator in another spelling, in the requests in which a client can send it (RFC 8707 §2).
struct ResourceSpellingTests {
    private static let registered = "https://photos.example.com"
    private static let spelling = "HTTPS://Photos.Example.com:443/"
    private static let malformed = ["https://photos.example.com#part", "photos.example.com", "/photos"]

    private let test: TestServer
    private let api: TestAPI

    init() async throws {
        test = try await TestServer()
        api = try await test.addAPI(Self.registered)
    }

    /// Expects a token that has the registered spelling as its audience, and that its API accepts.
    private func expectRegistered(_ tokens: TokenResponse, _ location: SourceLocation = #_sourceLocation) async throws {
        let token = tokens.accessToken.exposed
        #expect(try IssuedTokens.parts(of: token).claims["aud"] as? String == Self.registered, sourceLocation: location)
        let members = try await api.introspect(token).members
        #expect(members["active"] as? Bool == true, sourceLocation: location)
        #expect(members["aud"] as? String == Self.registered, sourceLocation: location)
    }

    // RFC 8707 §2.2: the token request has another spelling than the pushed request.
    @Test func `a pushed request names an API in another spelling`() async throws {
        let attempt = Attempt(test).adding("resource", Self.spelling)
        let code = try await PushedAttempt(attempt).authorize().code
        let form = attempt.exchange(code).adding("resource", Self.registered + "/")
        try await expectRegistered(try await test.redeem(form).tokenResponse)
    }

    @Test func `a device names an API in another spelling`() async throws {
        let device = try await TestDevice(test)
        let codes = try await device.codes(["scope": "photos.read", "resource": Self.spelling])
        var browser = test.browser()
        _ = try await browser.answer(codes)
        try await expectRegistered(try await device.poll(codes, ["resource": Self.registered + "/"]).tokenResponse)
    }

    @Test func `a service names an API in another spelling`() async throws {
        let service = try await test.addService()
        try await expectRegistered(try await service.token(["resource": Self.spelling]))
    }

    // The consent belongs to the API, not to the spelling.
    @Test func `a consent in one spelling is remembered in another`() async throws {
        let client = try await test.register("Album", type: .web, redirectURIs: ["https://album.example/cb"])
        func attempt(_ resource: String) -> Attempt {
            Attempt(test, by: client, at: "https://album.example/cb").adding("resource", resource)
        }
        var browser = test.browser()
        _ = try await attempt(Self.spelling).authorize(with: &browser)
        #expect(try await browser.open(attempt(Self.registered).url).status == .seeOther)
    }

    @Test func `a token request for a longer resource than any API can have says so`() async throws {
        let service = try await test.addService()
        let long = "https://a.example.com/" + String(repeating: "a", count: Resource.byteLimit)
        let form = FormParameters(["grant_type": "client_credentials", "resource": long])
        let refused = try await test.redeem(form, fields: service.fields).tokenError
        #expect(refused.error == "invalid_target")
        #expect(try #require(refused.errorDescription).contains("longer than 2048 bytes"))
    }

    // RFC 8707 §2: an absolute URI without a fragment, in every request that can name an API.
    @Test(arguments: malformed)
    func `a fragment or a relative URI is refused in every request`(resource: String) async throws {
        #expect(try await Attempt(test).adding("resource", resource).error().code == .invalidTarget)
        #expect(try await Attempt(test).adding("resource", resource).pushError() == .invalidTarget)
        let device = try await TestDevice(test)
        let asked = await device.request(["scope": "photos.read", "resource": resource])
        #expect(try asked.tokenError.error == "invalid_target")
        let attempt = Attempt(test).adding("resource", Self.registered)
        let code = attempt.exchange(try await attempt.authorize().code)
        #expect(try await test.redeem(code.adding("resource", resource)).tokenError.error == "invalid_target")
        let service = try await test.addService()
        let form = FormParameters(["grant_type": "client_credentials", "resource": resource])
        #expect(try await test.redeem(form, fields: service.fields).tokenError.error == "invalid_target")
        // A refused request has consumed nothing.
        try await expectRegistered(try await test.redeem(code).tokenResponse)
    }
}
