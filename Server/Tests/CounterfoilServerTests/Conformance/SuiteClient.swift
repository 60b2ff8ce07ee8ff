import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import HTTPTypes
import Testing

/// The client of the MCP conformance suite, which has no secret and listens at a port of the loopback interface.
struct SuiteClient: Sendable {
    /// The ways in which the client gets its `client_id`.
    enum Origin: CaseIterable {
        /// A person registered the client.
        case user
        /// The client publishes a document.
        case document
        /// The client registers itself, as MCP clients do.
        case registration
    }

    static let callback = "http://127.0.0.1:3000/callback"
    private static let documentURL = "https://suite.example.net/client.json"

    let test: TestServer
    let client: RegisteredClient

    /// Creates a server that accepts every kind of client, and the client.
    ///
    /// - Parameters:
    ///   - origin: The way in which the client gets its `client_id`.
    ///   - defaultScope: The default scope of unregistered clients.
    ///   - listed: The scopes that the metadata list in addition to the standard ones.
    init(_ origin: Origin, defaultScope: String, listing listed: [String] = []) async throws {
        let files = RegistrantFiles()
        await files.publish(
            #"""
            {"client_id": "\#(Self.documentURL)", "client_name": "Suite", "redirect_uris": ["\#(Self.callback)"],
             "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none"}
            """#, at: Self.documentURL)
        let defaultScope = try Scope(lenient: defaultScope)
        let maximumScope = try Scope(
            parsing: "openid offline_access profile email address phone photos.read photos.write")
        let desk = try await RegistrationDesk(files: files) { policy in
            policy.kinds = [.document, .registration]
            policy.defaultScope = defaultScope
            policy.maximumScope = maximumScope
        }
        test = desk.test
        for scope in try await test.store.scopes() where listed.contains(scope.token.rawValue) {
            var changed = scope
            changed.isListed = true
            #expect(try await test.store.updateScope(changed, from: scope) == .updated)
        }
        switch origin {
        case .user: client = test.lightbox
        case .document: client = try test.documentClient(Self.documentURL)
        case .registration:
            let registrant = try await desk.registered([
                "client_name": "Suite", "redirect_uris": [Self.callback], "application_type": "native",
                "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
            ])
            #expect(registrant.members["token_endpoint_auth_method"] as? String == "none")
            #expect(registrant.secret == nil)
            client = try await registrant.registration()
        }
    }

    /// An authorization request of the client; that of the suite has neither `scope` nor `resource`.
    func attempt(for scope: String? = nil) -> Attempt {
        Attempt(test, by: client, at: Self.callback, for: scope)
    }

    /// Runs the scenario `authorization-code-grant` as alice, with its assertions, and returns the tokens.
    func codeGrant() async throws -> TokenResponse {
        let metadata = try await test.send(.get, to: .metadata).members
        let attempt = attempt()
        #expect(
            attempt.request.pairs.map(\.name) == [
                "response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method",
            ])
        let endpoint = try #require(metadata["authorization_endpoint"] as? String)
        var browser = test.browser()
        let reply = try await browser.authorize(
            endpoint + "?" + attempt.request.encoded, username: "alice", password: TestServer.password)

        let parts = try reply.destination.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        #expect(parts.first.map(String.init) == Self.callback)
        let response = try FormParameters(parsing: String(try #require(parts.last)))
        #expect(!response.pairs.contains { $0.name == "error" })
        #expect(response.all("state") == attempt.request.all("state"))
        #expect(response.all("code").count == 1)
        #expect(response.all("iss") == [try #require(metadata["issuer"] as? String)])
        #expect(metadata["authorization_response_iss_parameter_supported"] as? Bool == true)

        #expect(metadata["token_endpoint"] as? String == test.issuer.endpoint("/oauth2/token"))
        let answer = await test.post(attempt.exchange(try reply.code), to: .token)
        #expect(answer.status == .ok)
        #expect(answer.fields[.cacheControl]?.contains("no-store") == true)
        for name in ["access_token", "token_type"] {
            #expect(try answer.members[name] is String, "\(name)")
        }
        return try answer.tokenResponse
    }
}
