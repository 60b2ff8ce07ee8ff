import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// A confidential web client, as in the OpenID conformance suite, at a server where alice has a full profile.
///
/// Like the suite, it sends a nonce and no PKCE parameters, unless a module is about them.
struct RelyingParty: Sendable {
    static let nonce = "n-0S6_WzA2Mj"
    static let callback = "https://rp.example.net/callback"
    static let afterLogout = "https://rp.example.net/signed-out"

    let test: TestServer
    let client: RegisteredClient
    let secret: ClientSecret

    init(
        subjectType: SubjectType = .public, idTokenAlgorithm: SigningAlgorithm = .rs256,
        backchannelLogoutURI: String? = nil, logoutSender: (any LogoutNoticeSender)? = nil,
        configure: (inout ServerSettings) -> Void = { _ in }
    ) async throws {
        secret = ClientSecret()
        test = try await TestServer(logoutSender: logoutSender, configure: configure)
        var policy = ClientPolicy.standard(for: .web)
        policy.isVouchedFor = true
        policy.subjectType = subjectType
        policy.idTokenAlgorithm = idTokenAlgorithm
        client = RegisteredClient(
            id: try #require(ClientIdentifier("app_relyingparty")), type: .web,
            presentation: ClientPresentation(name: "Relying Party"),
            redirectURIs: [try RedirectURI(Self.callback)],
            scope: try Scope(parsing: "openid profile email address phone offline_access"),
            postLogoutRedirectURIs: [try RedirectURI(Self.afterLogout)],
            backchannelLogoutURI: try backchannelLogoutURI.map { try AbsoluteURI(parsing: $0) },
            policy: policy, createdAt: test.clock.now)
        #expect(try await test.store.addClient(client) == .added)
        let record = ClientSecretRecord(
            digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: test.clock.now)
        #expect(try await test.store.addClientSecret(record) == .added)

        var alice = test.alice
        alice.profile.givenName = "Alice"
        alice.profile.familyName = "Example"
        alice.profile.isEmailVerified = true
        alice.profile.phoneNumber = "+4722225555"
        alice.profile.address = UserProfile.Address()
        alice.profile.address?.locality = "Oslo"
        #expect(try await test.store.updateUser(alice, at: test.clock.now) == .updated)
    }

    /// A client that has registered itself, as the dynamic plan of the suite does (RFC 7591 §3).
    init(_ registrant: Registrant) async throws {
        test = registrant.desk.test
        client = try #require(try await registrant.stored)
        secret = registrant.secret.flatMap { ClientSecret($0) } ?? ClientSecret()
    }

    /// A valid authorization request, with a nonce and without a code challenge by default.
    func attempt(
        for scope: String = "openid", usesPKCE: Bool = false, with parameters: KeyValuePairs<String, String?> = [:]
    ) -> Attempt {
        var attempt = Attempt(test, by: client, at: Self.callback, for: scope).with("nonce", Self.nonce)
        if !usesPKCE { attempt = attempt.with("code_challenge", nil).with("code_challenge_method", nil) }
        for (name, value) in parameters { attempt = attempt.with(name, value) }
        return attempt
    }

    /// `Authorization: Basic` of the client (RFC 6749 §2.3.1).
    var basic: String {
        "Basic " + Data("\(client.id.rawValue):\(secret.exposed)".utf8).base64EncodedString()
    }

    /// The form of the token request, with a code verifier if the authorization request had a challenge.
    func exchange(_ code: AuthorizationCode, of attempt: Attempt) -> FormParameters {
        let form = attempt.exchange(code)
        let usesPKCE = attempt.request.pairs.contains { $0.name == "code_challenge" }
        return usesPKCE ? form : form.setting("code_verifier", to: nil)
    }

    /// Redeems a code; returns the response.
    func redeem(_ code: AuthorizationCode, of attempt: Attempt) async -> Reply {
        await test.redeem(exchange(code, of: attempt), fields: [.authorization: basic])
    }

    /// Runs the whole flow as alice in a given browser; returns the tokens.
    func tokens(_ attempt: Attempt, in browser: inout ScriptedUserAgent) async throws -> TokenResponse {
        let reply = try await attempt.authorize(with: &browser)
        return try await redeem(try reply.code, of: attempt).tokenResponse
    }

    /// Runs the whole flow as alice in a new browser; returns the tokens.
    func tokens(for scope: String = "openid", with parameters: KeyValuePairs<String, String?> = [:]) async throws
        -> TokenResponse
    {
        var browser = test.browser()
        return try await tokens(attempt(for: scope, with: parameters), in: &browser)
    }

    /// The claims of the ID token of a response.
    func claims(_ tokens: TokenResponse) throws -> [String: Any] {
        try IssuedTokens.parts(of: try #require(tokens.idToken).exposed).claims
    }

    /// Sends a UserInfo request with the token in the header.
    func userInfo(_ token: AccessToken, method: HTTPRequest.Method = .get) async -> Reply {
        await test.send(method, to: .userInfo, fields: [.authorization: "Bearer \(token.exposed)"])
    }

    /// The claims of the UserInfo response.
    func user(_ token: AccessToken) async throws -> [String: Any] {
        try Self.members(of: await userInfo(token))
    }

    /// The members of a JSON response.
    static func members(of reply: Reply) throws -> [String: Any] {
        #expect(reply.status == .ok)
        return try #require(try JSONSerialization.jsonObject(with: Data(try reply.json)) as? [String: Any])
    }
}
