import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The access to the administration API.
struct AdministrationAccessTests {
    private static func challenges(_ reply: Reply) throws -> [AuthenticationChallenge] {
        AuthenticationChallenge.list(in: try #require(reply.fields[.wwwAuthenticate]))
    }

    @Test func `without the setting every path gets 404, and the server registers no scope`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        var settings = desk.test.server.settings
        settings.offersAdministrationAPI = false
        desk.test.server.replaceSettings(by: settings)
        for path in ["/users", "/users/\(desk.root.id)", "/openapi.json"] {
            let reply = try await desk.send(.get, path, as: token)
            #expect(reply.status == .notFound)
            #expect(reply.problem == "blank")
        }
        let test = try await TestServer()
        _ = try await test.server.maintenance.runRound()
        #expect(try await test.store.resources() == [])
        #expect(try await test.store.scopes().allSatisfy { !$0.isReserved })
        #expect(await test.send(.get, to: .administrationAPIMetadata).status == .notFound)
    }

    // RFC 6750 §3, RFC 9728 §5.1
    @Test func `a request needs a token of the API with the scope of the operation`() async throws {
        let desk = try await AdministrationDesk()
        let metadata = "https://id.example.com/.well-known/oauth-protected-resource/api/v1"
        let bare = try await desk.send(.get, "/users")
        #expect(bare.status == .unauthorized)
        #expect(bare.problem == "no-token")
        let challenge = try #require(try Self.challenges(bare).first)
        #expect(challenge["resource_metadata"] == metadata)
        #expect(challenge["scope"] == "counterfoil.admin.users:read")
        #expect(challenge["error"] == nil)

        let other = try await desk.send(.get, "/users", as: try await desk.token("openid photos.read"))
        #expect(other.status == .unauthorized)
        #expect(try Self.challenges(other).first?["error"] == "invalid_token")
        #expect(try Self.challenges(other).first?["resource_metadata"] == metadata)

        let reading = try await desk.token("counterfoil.admin.users:read")
        let list = try await desk.send(.get, "/users", as: reading)
        #expect(list.status == .ok)
        #expect(list.fields[.cacheControl] == "no-store")
        #expect(try list.items("username") == ["alice", "root"])
        let change = try await desk.send(.post, "/users/\(desk.root.id)/disable", as: reading)
        #expect(change.status == .forbidden)
        #expect(try Self.challenges(change).first?["error"] == "insufficient_scope")
        #expect(try Self.challenges(change).first?["scope"] == "counterfoil.admin.users:write")

        let document = try await desk.test.send(.get, to: .administrationAPIMetadata).members
        #expect(document["resource"] as? String == "https://id.example.com/api/v1")
        #expect((document["scopes_supported"] as? [String])?.joined(separator: " ") == AdministrationDesk.scope)
    }

    enum Loss: CaseIterable { case role, grant, user, suspension, approval, expiry }

    @Test(arguments: Loss.allCases)
    func `what a token stands on is judged with each request`(_ loss: Loss) async throws {
        let desk = try await AdministrationDesk()
        let (test, store, now) = (desk.test, desk.test.store, desk.test.clock.now)
        let token = try await desk.token()
        #expect(try await desk.send(.get, "/users", as: token).status == .ok)
        // The last owner keeps the role and the account.
        _ = try await test.addUser("carol", role: .owner)
        switch loss {
        case .role:
            _ = try await store.setRole(nil, of: test.alice.id, from: .owner, at: now, recording: [])
        case .grant:
            let grant = try #require(try await store.grants(of: test.alice.id, after: nil, limit: 1).first?.grant)
            _ = try await store.revokeGrant(grant.id, because: .user, at: now)
        case .user: #expect(try await store.disableUser(test.alice.id, at: now, recording: []) == .changed)
        case .suspension:
            _ = try await store.decide(.suspend(reason: "Audit"), on: desk.client.id, at: now, recording: [])
        case .approval: try await test.change(desk.client) { $0.approval = .open }
        case .expiry: test.clock.advance(by: 3600 + 31)
        }
        let reply = try await desk.send(.get, "/users", as: token)
        let expected: HTTPResponse.Status =
            switch loss {
            case .role, .approval: .forbidden
            case .grant, .user, .suspension, .expiry: .unauthorized
            }
        #expect(reply.status == expected)
        #expect((reply.problem == "missing-right") == (loss == .role))
    }

    // The owner may edit the scope, but not make it available to every app.
    @Test func `a scope of the API stays reserved for approved clients`() async throws {
        let desk = try await AdministrationDesk()
        let former = try #require(
            try await desk.test.store.scopes().first { $0.token.rawValue == "counterfoil.admin.users:read" })
        #expect(former.isReserved && !former.texts.isEmpty)
        var draft = ScopeDraft(former)
        draft.isReserved = false
        #expect(try draft.checked(as: former.token).isReserved)
        try await desk.test.change(desk.client) { $0.approval = .open }
        let error = try await Attempt(desk.test, by: desk.client, for: "counterfoil.admin.users:read").error()
        #expect(error.code == .invalidScope)
    }

    // RFC 6749 §4.4
    @Test func `a service calls with the scopes that an administrator has approved`() async throws {
        let desk = try await AdministrationDesk()
        let service = try await desk.test.addService(scope: AdministrationDesk.scope)
        try await desk.test.change(service.client) {
            $0.approval = .approved
            $0.policy.machineScope = Scope($0.scope.tokens.filter { $0.rawValue == "counterfoil.admin.users:read" })
        }
        let token = try await service.token().accessToken
        #expect(try await desk.send(.get, "/users", as: token).status == .ok)
        #expect(try await desk.send(.delete, "/users/\(desk.root.id)/sessions", as: token).status == .forbidden)
        try await desk.test.change(service.client) { $0.policy.machineScope = Scope() }
        #expect(try await desk.send(.get, "/users", as: token).status == .unauthorized)
    }

    // RFC 9449 §7
    @Test func `a proof names the URL of the request, and the API can demand bound tokens`() async throws {
        let desk = try await AdministrationDesk()
        let (key, bearer) = (try TestProofKey(), try await desk.token())
        let token = try await desk.token(fields: try desk.test.proving(key))
        let name = try #require(HTTPField.Name("DPoP"))
        func read(_ path: String, proving url: String) async throws -> Reply {
            let proof = try key.proof(for: .get, url, at: desk.test.clock.wall, presenting: token)
            return try await desk.send(
                .get, path, fields: [.authorization: "DPoP \(token.exposed)", name: proof])
        }
        let url = "https://id.example.com/api/v1/users"
        let accepted = try await read("/users?limit=1", proving: url)
        #expect(accepted.status == .ok)
        #expect(accepted.proofNonce != nil)
        let other = try await read("/users/\(desk.root.id)", proving: url)
        #expect(other.status == .unauthorized)
        #expect(try Self.challenges(other).map(\.scheme) == ["dpop"])
        #expect(try await desk.send(.get, "/users", as: token).status == .unauthorized)

        let api = try #require(try await desk.test.store.resources().first)
        var bound = api
        bound.requiresBoundTokens = true
        #expect(try await desk.test.store.updateResource(bound, from: api) == .updated)
        let refused = try await desk.send(.get, "/users", as: bearer)
        #expect(refused.status == .unauthorized)
        #expect(try Self.challenges(refused).map(\.scheme) == ["dpop"])
        #expect(try await read("/users", proving: url).status == .ok)
    }

    // RFC 6585 §4
    @Test func `a user who sends too many requests is told when to try again`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        for _ in 0..<600 { _ = try await desk.send(.get, "/invitations", as: token) }
        let reply = try await desk.send(.get, "/invitations", as: token)
        #expect(reply.status == .tooManyRequests)
        #expect(reply.fields[.retryAfter] == "60")
        desk.test.clock.advance(by: 61)
        #expect(try await desk.send(.get, "/invitations", as: token).status == .ok)
    }

    // No refused request reads the store without a limit.
    @Test func `requests with the token of a grant that has ended count for the client`() async throws {
        let desk = try await AdministrationDesk()
        let token = try await desk.token()
        let grant = try #require(try await desk.test.store.grants(of: desk.test.alice.id, after: nil, limit: 1).first)
        _ = try await desk.test.store.revokeGrant(grant.grant.id, because: .user, at: desk.test.clock.now)
        for _ in 0..<1200 { _ = try await desk.send(.get, "/users", as: token) }
        #expect(try await desk.send(.get, "/users", as: token).status == .tooManyRequests)
    }

    // Fetch §3.2
    @Test func `scripts of the registered origins of the client read the answers, and no others`() async throws {
        let desk = try await AdministrationDesk()
        try await desk.test.change(desk.client) {
            $0.origins = ["https://console.example.com"].compactMap { RegisteredOrigin($0) }
        }
        let token = try await desk.token()
        for (origin, allowed) in [("https://console.example.com", true), ("https://elsewhere.example", false)] {
            let reply = try await desk.send(.get, "/users", as: token, fields: [.origin: origin])
            #expect((reply.fields[.accessControlAllowOrigin] == origin) == allowed)
            let events = try await desk.send(.get, "/events", as: token, fields: [.origin: origin])
            let exposed = events.fields[.accessControlExposeHeaders] ?? ""
            #expect(exposed.hasSuffix(", Events-Cursor, Events-More") == allowed)
        }
    }
}
