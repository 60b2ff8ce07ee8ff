import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import HTTPTypes
import Testing

/// The parameter `audience`, with which other servers name an API; here it is `resource` (RFC 8707 §2).
struct AudienceParameterTests {
    private static let api = "https://photos.example.com"
    private static let hint = "audience is not a parameter of this server, send resource=URI instead (RFC 8707)"

    private static func lines(_ test: TestServer) -> [String] {
        test.log.lines.filter { $0.contains("ignored the parameter audience, which this server calls resource") }
    }

    @Test func `a request with audience succeeds, and the log names resource once an hour`() async throws {
        let test = try await TestServer()
        for _ in 1...2 {
            let tokens = try await Attempt(test).adding("audience", Self.api).tokens()
            let claims = try IssuedTokens.parts(of: tokens.accessToken.exposed).claims
            #expect(claims["aud"] as? String == "https://id.example.com")
        }
        let line = try #require(Self.lines(test).first)
        #expect(Self.lines(test).count == 1)
        #expect(line.hasPrefix("notice "))
        #expect(line.contains("\"client_id\": app_lightbox") && line.contains("\"endpoint\": authorization"))
        test.clock.advance(by: 3601)
        _ = try await Attempt(test).adding("audience", Self.api).tokens()
        #expect(Self.lines(test).count == 2)
    }

    @Test func `a token request with audience is logged with its client`() async throws {
        let test = try await TestServer()
        let service = try await test.addService()
        let first = FormParameters(["grant_type": "client_credentials", "audience": Self.api])
        #expect(await test.redeem(first, fields: service.fields).status == .ok)
        let line = try #require(Self.lines(test).first)
        #expect(line.contains("\"client_id\": \(service.client.id)") && line.contains("\"endpoint\": token"))
    }

    // Neither a stranger nor a client with a wrong secret writes the line.
    @Test func `a request of an unknown client is not logged`() async throws {
        let test = try await TestServer()
        let service = try await test.addService()
        let form = FormParameters(["grant_type": "client_credentials", "audience": Self.api])
        let refused = await test.redeem(form, fields: .basic(service.client.id, ClientSecret()))
        #expect(refused.status != .ok)
        _ = try await Attempt(test).with("client_id", "app_nobody").adding("audience", Self.api).firstReply()
        #expect(Self.lines(test).isEmpty)
    }

    @Test func `a refused authorization request with audience names resource in its description`() async throws {
        let test = try await TestServer()
        let wrongScope = Attempt(test, for: "photos.delete").adding("audience", Self.api)
        let error = try await wrongScope.error()
        #expect(error.code == .invalidScope)
        let description = try #require(error.description)
        #expect(description.hasPrefix("this client is not registered for these scopes"))
        #expect(description.hasSuffix(Self.hint))
        let silent = Attempt(test).with("prompt", "none").adding("audience", Self.api)
        #expect(try #require(try await silent.error().description).hasSuffix(Self.hint))
    }

    @Test func `a refused token request with audience names resource in its description`() async throws {
        let test = try await TestServer()
        let attempt = Attempt(test)
        let form = attempt.exchange(try await attempt.authorize().code)
        let narrowed = await test.redeem(form.adding("audience", Self.api).adding("scope", "photos.delete"))
        #expect(try narrowed.tokenError.error == "invalid_scope")
        #expect(try #require(try narrowed.tokenError.errorDescription).hasSuffix(Self.hint))
        let service = try await test.addService()
        let wrongSecret = await test.redeem(
            FormParameters(["grant_type": "client_credentials", "audience": Self.api]),
            fields: .basic(service.client.id, ClientSecret()))
        #expect(try #require(try wrongSecret.tokenError.errorDescription).hasSuffix(Self.hint))
    }

    // The user's own decision is no mistake of the client.
    @Test func `a request that the user denies has the usual description`() async throws {
        let test = try await TestServer()
        let denied = try await Attempt(test).adding("audience", Self.api).authorize(decision: .deny)
        let error = try denied.redirectedError
        #expect(error.code == .accessDenied)
        #expect(error.description?.contains("audience") == false)
    }

    @Test(arguments: [["audience": ""], ["audience": "https://a.example", "resource": "https://photos.example.com"]])
    func `an empty audience, or one beside a resource, is ignored in silence`(
        parameters: [String: String]
    ) async throws {
        let test = try await TestServer()
        _ = try await test.addAPI(Self.api)
        var attempt = Attempt(test)
        for (name, value) in parameters { attempt = attempt.adding(name, value) }
        _ = try await attempt.tokens()
        #expect(Self.lines(test).isEmpty)
        let refused = try await attempt.with("scope", "photos.delete").error()
        #expect(refused.description?.contains("audience") == false)
    }
}
