import CounterfoilConsole
import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The assertions of the scenarios for authorization servers in the MCP conformance suite, under the names of the
/// scenarios and of their checks.
///
/// The suite needs a client without a secret (`--client-id` alone). With `--client-secret` it fails
/// `authorization-code-grant`: it sends no secret to a server whose metadata list the method `none`.
@Suite("MCP conformance: authorization server")
struct MCPConformanceTests {
    // MARK: - Metadata

    /// The URLs at which the suite looks for the metadata; it takes the first response with the status 200.
    private static func metadataURLs(of issuer: Issuer) -> [String] {
        let origin = issuer.origin
        let path = issuer.rawValue.dropFirst(origin.count)
        return [
            "\(origin)/.well-known/oauth-authorization-server\(path)",
            "\(origin)/.well-known/openid-configuration\(path)",
            "\(origin)\(path)/.well-known/openid-configuration",
        ]
    }

    @Test(arguments: ["https://id.example.com", "https://id.example.com/tenant1", "http://127.0.0.1:8080"])
    func `authorization-server-metadata-endpoint, authorization-server-metadata`(issuer: String) async throws {
        let test = try await TestServer(issuer: issuer)
        var suite = test.browser()
        for url in Self.metadataURLs(of: test.issuer) {
            let reply = try await suite.send(.get, to: url)
            #expect(reply.status == .ok)
            // The web layer sends this body as `client/json`.
            let members = try reply.members
            #expect(members["issuer"] as? String == issuer)
            for name in ["authorization_endpoint", "token_endpoint"] {
                #expect((members[name] as? String)?.isEmpty == false, "\(name)")
            }
            #expect((members["response_types_supported"] as? [String])?.contains("code") == true)
            #expect((members["code_challenge_methods_supported"] as? [String])?.contains("S256") == true)
        }
    }

    // The suite warns if the member is absent, so it warns until the owner accepts client documents.
    @Test(arguments: [Set<UnregisteredClientKind>([]), [.registration], [.document], [.document, .registration]])
    func `authorization-server-metadata-endpoint, authorization-server-metadata-cimd`(
        kinds: Set<UnregisteredClientKind>
    ) async throws {
        let desk = try await RegistrationDesk(files: RegistrantFiles()) { $0.kinds = kinds }
        let members = try await desk.test.send(.get, to: .metadata).members
        let member = members["client_id_metadata_document_supported"]
        #expect(member as? Bool == (kinds.contains(.document) ? true : nil))
        #expect((member != nil) == kinds.contains(.document))
    }

    // MARK: - Code grant

    // The request has neither scope nor resource, so the token has the default scope and audience.
    @Test(arguments: SuiteClient.Origin.allCases)
    func `authorization-code-grant`(origin: SuiteClient.Origin) async throws {
        let suite = try await SuiteClient(origin, defaultScope: "photos.read")
        let tokens = try await suite.codeGrant()
        let token = try await IssuedTokens(suite.test).verified(tokens.accessToken)
        // RFC 6749 §3.3: a client that a person registered gets every scope of its registration except those of OpenID.
        let scope = origin == .user ? "photos.read photos.write" : "photos.read"
        #expect(token.audience == [suite.test.issuer.rawValue])
        #expect(token.scope.description == scope)
        #expect(tokens.scope?.description == scope)
        #expect(tokens.refreshToken == nil && tokens.idToken == nil)
    }

    // RFC 6749 §3.3: without a default scope the scenario passes, but the token gives access to nothing.
    @Test(arguments: [SuiteClient.Origin.document, .registration])
    func `authorization-code-grant, without a default scope`(origin: SuiteClient.Origin) async throws {
        let suite = try await SuiteClient(origin, defaultScope: "")
        #expect(try await suite.attempt().consentPage().permissions.isEmpty)
        let tokens = try await suite.codeGrant()
        #expect(try await IssuedTokens(suite.test).verified(tokens.accessToken).scope.isEmpty)
        #expect(tokens.scope == nil && tokens.refreshToken == nil && tokens.idToken == nil)
        let userInfo = await suite.test.send(
            .get, to: .userInfo, fields: [.authorization: "Bearer \(tokens.accessToken.exposed)"])
        #expect(userInfo.status == .forbidden)
        let challenge = try #require(userInfo.fields[.wwwAuthenticate])
        #expect(challenge.contains(#"error="insufficient_scope""#))
    }

    // RFC 6749 §3.2.1: the request that fails this scenario for a client with a secret.
    @Test func `authorization-code-grant, with a secret that is not sent`() async throws {
        let desk = try await RegistrationDesk()
        let registrant = try await desk.registered([
            "redirect_uris": [SuiteClient.callback], "application_type": "web",
            "token_endpoint_auth_method": "client_secret_post",
        ])
        let attempt = Attempt(desk.test, by: try await registrant.registration(), at: SuiteClient.callback, for: nil)
        let form = attempt.exchange(try await attempt.authorize().code)
        let refused = await desk.test.post(form, to: .token)
        #expect(refused.status == .unauthorized)
        #expect(try refused.tokenError.error == "invalid_client")
        // The refused request consumed nothing.
        let secret = try #require(registrant.secret)
        #expect(await desk.test.post(form.adding("client_secret", secret), to: .token).status == .ok)
    }

    // MARK: - Every scope of the metadata

    /// A policy, and the scopes that the owner lists in the metadata.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let listed: [String]
        let defaultScope: String
        /// Whether the API gets the client's tokens, with the scope `photos.read`.
        let isAccepted: Bool
    }

    private static let photos = "https://photos.example.com"

    // RFC 8707 §2.2: a client requests every scope of the metadata if neither the challenge nor the metadata of the API
    // name one.
    @Test(
        arguments: [
            Case(
                testDescription: "listed scopes of two APIs, no default",
                listed: ["photos.read", "photos.write"], defaultScope: "", isAccepted: true),
            Case(
                testDescription: "listed scopes of two APIs, a default at the other one",
                listed: ["photos.read", "photos.write"], defaultScope: "photos.write", isAccepted: true),
            Case(
                testDescription: "no listed scope, a default for two APIs",
                listed: [], defaultScope: "photos.read photos.write", isAccepted: true),
            Case(
                testDescription: "a listed scope of the other API, a default for both",
                listed: ["photos.write"], defaultScope: "photos.write photos.read", isAccepted: true),
            Case(testDescription: "no listed scope, no default", listed: [], defaultScope: "", isAccepted: false),
            Case(
                testDescription: "a listed scope of the other API, a default at the other one",
                listed: ["photos.write"], defaultScope: "photos.write", isAccepted: false),
        ], [SuiteClient.Origin.document, .registration])
    func `a client that requests every scope of the metadata for an API gets the scopes of that API only`(
        policy: Case, origin: SuiteClient.Origin
    ) async throws {
        let suite = try await SuiteClient(origin, defaultScope: policy.defaultScope, listing: policy.listed)
        _ = try await suite.test.addAPI(Self.photos, scope: "photos.read photos.delete")
        _ = try await suite.test.addAPI("https://uploads.example.com", scope: "photos.write")
        let members = try await suite.test.send(.get, to: .metadata).members
        let scopes = try #require(members["scopes_supported"] as? [String])
        #expect(scopes.filter { $0.hasPrefix("photos.") } == policy.listed)
        let attempt = suite.attempt(for: scopes.joined(separator: " "))
            .with("resource", Self.photos).with("prompt", "consent")
        guard policy.isAccepted else {
            let error = try await attempt.error()
            #expect(error.code == .invalidScope)
            #expect(error.description?.contains("has no default scope for unregistered clients") == true)
            return
        }

        var (browser, reply) = try await attempt.afterSignIn()
        let asked = try reply.consentPage.permissions.map(\.scope)
        #expect(asked.filter { $0.hasPrefix("photos.") } == ["photos.read"])
        reply = try await browser.decide(.allow, on: reply)
        let form = attempt.exchange(try reply.code).adding("resource", Self.photos)
        let tokens = try await suite.test.redeem(form).tokenResponse
        #expect(tokens.idToken != nil)
        let refresh = FormParameters([
            "grant_type": "refresh_token", "client_id": suite.client.id.rawValue, "resource": Self.photos,
            "refresh_token": try #require(tokens.refreshToken).exposed,
        ])
        for response in [tokens, try await suite.test.redeem(refresh).tokenResponse] {
            let token = try await IssuedTokens(suite.test).verified(response.accessToken, audience: Self.photos)
            #expect(token.audience == [Self.photos])
            #expect(token.scope.description == "photos.read")
            #expect(response.scope?.without(.offlineAccess).description == "photos.read")
        }
    }
}
