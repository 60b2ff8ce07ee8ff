import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@Suite("The contract: clients")
struct ClientContractTests {
    /// Returns a client with every property set, with texts that careless encoding would change.
    private static func full(_ id: String, owner: User) throws -> RegisteredClient {
        RegisteredClient(
            id: try #require(ClientIdentifier(id)),
            type: .native,
            owner: owner.id,
            presentation: ClientPresentation(
                name: "Licht'; DROP TABLE clients; -- 🔦",
                publisher: "Ada · 爱达",
                consentText: "# Hello\n\n- one\r\n- *two*\ttab \u{202E}\n",
                privacyURI: try AbsoluteURI(parsing: "https://example.com/privacy?a=b%20c#d"),
                termsURI: try AbsoluteURI(parsing: "https://example.com/terms")
            ),
            redirectURIs: [
                try RedirectURI("com.example.app:/callback"), try RedirectURI("https://example.com/app/callback"),
            ],
            scope: Scope([.openID, .email, .profile]),
            optionalScope: Scope([.email]),
            origins: [
                try #require(RegisteredOrigin("https://app.example.com")),
                try #require(RegisteredOrigin("http://localhost:5173")),
            ],
            appleApps: [
                try #require(AppleApp("ABCDE12345.com.example.app")),
                try #require(AppleApp("ABCDE12345.com.example.b")),
            ],
            androidApps: [
                try #require(AndroidApp("com.example.app:" + String(repeating: "0A", count: 32))),
                try #require(AndroidApp("com.example.app:" + String(repeating: "FF", count: 32))),
            ],
            policy: ClientPolicy(
                isFirstParty: false, isVouchedFor: true, isClaimedHTTPSVerified: true,
                pkce: .exemptUntil(try #require(CalendarDay("2027-01-31"))), requiresState: false,
                requiresPushedRequests: true, requiresBoundTokens: true, refreshTokens: .always,
                accessTokenLifetime: 60, idTokenLifetime: 86_400, webViews: .allow, minimumAuthentication: .twoFactor,
                idTokenAlgorithm: .rs256
            ),
            approval: .development,
            testers: [try #require(Username("ada")), try #require(Username("bob-2.x_y"))],
            suspension: ClientSuspension(at: World.now.addingTimeInterval(5), reason: "It's 'spam' 🔦"),
            createdAt: World.now,
            changedAt: World.now.addingTimeInterval(7),
            revision: 3
        )
    }

    @Test(arguments: StoreKind.allCases)
    func `a client is read back as it was registered`(_ kind: StoreKind) async throws {
        let bare = RegisteredClient(
            id: try #require(ClientIdentifier("app bare ' -- \"")),
            type: .service,
            presentation: ClientPresentation(name: ""),
            redirectURIs: [],
            scope: Scope(),
            policy: ClientPolicy(),
            createdAt: World.now.addingTimeInterval(-1)
        )
        try await kind.withWorld { world async throws in
            let full = try Self.full("app-full", owner: world.user)
            #expect(try await world.store.addClient(full) == .added)
            #expect(try await world.store.addClient(bare) == .added)
            let stored = try #require(try await world.store.client(full.id))
            #expect(stored == full)
            #expect(stored.redirectURIs.map(\.rawValue) == full.redirectURIs.map(\.rawValue))
            #expect(
                stored.presentation.consentText?.utf8.elementsEqual(full.presentation.consentText?.utf8 ?? "".utf8)
                    == true)
            #expect(stored.presentation.privacyURI?.rawValue == full.presentation.privacyURI?.rawValue)
            #expect(ClientAppearance(of: stored) == ClientAppearance(of: full))
            #expect(try await world.store.client(bare.id) == bare)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every policy is read back`(_ kind: StoreKind) async throws {
        var policies = RefreshTokenPolicy.allCases.map { ClientPolicy(refreshTokens: $0) }
        policies += WebViewPolicy.allCases.map { ClientPolicy(webViews: $0) }
        policies += AuthenticationContext.allCases.map { ClientPolicy(minimumAuthentication: $0) }
        policies.append(ClientPolicy(machineScope: try Scope(parsing: "photos.read photos.write")))
        policies += [ClientPolicy(pkce: .s256), ClientPolicy(pkce: .s256OrPlain), ClientPolicy(isFirstParty: true)]
        try await kind.withWorld { world async throws in
            var client = world.client
            for policy in policies {
                client.policy = policy
                #expect(try await world.store.updateClient(client, logo: .keep) == .updated)
                client.revision += 1
                #expect(try await world.store.client(client.id) == client)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `clients are listed oldest first, with equal times in order of registration`(_ kind: StoreKind) async throws {
        let late = try RegisteredClient.named("late", createdAt: World.now.addingTimeInterval(1))
        let same = try ["z", "a", "m"].map { try RegisteredClient.named($0) }
        try await kind.withStore { store async throws in
            for client in [late] + same { #expect(try await store.addClient(client) == .added) }
            #expect(try await store.clients() == same + [late])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the clients of a developer are those that the developer owns, oldest first`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let other = try User.named("bob")
            #expect(try await world.store.addUser(other) == .added)
            let late = try RegisteredClient.named(
                "late", owner: world.user.id, createdAt: World.now.addingTimeInterval(1))
            let own = try ["z", "a"].map { try RegisteredClient.named($0, owner: world.user.id) }
            let foreign = try RegisteredClient.named("foreign", owner: other.id)
            for client in [late, foreign] + own { #expect(try await world.store.addClient(client) == .added) }
            #expect(try await world.store.clients(of: world.user.id) == own + [late])
            #expect(try await world.store.clients(of: other.id) == [foreign])
            #expect(try await world.store.clients(of: UserIdentifier()) == [])
            var given = foreign
            given.owner = nil
            #expect(try await world.store.updateClient(given, logo: .keep) == .updated)
            #expect(try await world.store.clients(of: other.id) == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `identifiers are unique and case-sensitive, and an unknown one finds nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let first = try RegisteredClient.named("app")
            #expect(try await store.addClient(first) == .added)
            var second = first
            second.presentation.name = "Another"
            #expect(try await store.addClient(second) == .identifierTaken)
            #expect(try await store.client(first.id) == first)
            #expect(try await store.client(try #require(ClientIdentifier("APP"))) == nil)
            #expect(try await store.addClient(.named("APP")) == .added)
        }
    }

    // A form that was opened before the deletion must not register the identifier again.
    @Test(arguments: StoreKind.allCases)
    func `a developer does not get the identifier of a deleted client`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let client = try RegisteredClient.named("app", owner: world.user.id)
            #expect(try await world.store.addClient(client) == .added)
            #expect(try await world.store.removeClient(client.id))
            #expect(try await world.store.addClient(client) == .identifierTaken)
            #expect(try await world.store.client(client.id) == nil)
            // An operator can register it again.
            var operators = client
            operators.owner = nil
            #expect(try await world.store.addClient(operators) == .added)
            #expect(try await world.store.client(client.id) == operators)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a client cannot be assigned unknown scopes`(_ kind: StoreKind) async throws {
        let unknown = try Scope(parsing: "photos.read OpenID")
        try await kind.withStore { store async throws in
            let client = try RegisteredClient.named("app", scope: Scope([.openID]).union(unknown))
            #expect(try await store.addClient(client) == .unknownScopes(unknown))
            #expect(try await store.client(client.id) == nil)
            for token in unknown.tokens {
                #expect(try await store.addScope(ScopeDefinition(token: token, description: "It")) == .added)
            }
            #expect(try await store.addClient(client) == .added)
            var wider = client
            wider.scope = Scope([.openID, try #require(Scope.Token("photos.burn"))])
            #expect(
                try await store.updateClient(wider, logo: .keep) == .unknownScopes(try Scope(parsing: "photos.burn")))
            #expect(try await store.client(client.id) == client)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a hundred clients of one developer only the allowed number is added`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (store, owner) = (world.store, world.user.id)
            let counts = try await outcomes(of: 100) { number in
                try await store.addClient(.named("app-\(number)", owner: owner), logo: nil, secret: nil, ownerLimit: 10)
            }
            #expect(counts == [.added: 10, .tooMany: 90])
            #expect(try await store.clients(of: owner).count == 10)
            // The limit does not apply to an administrator's clients.
            #expect(
                try await store.addClient(.named("operator"), logo: nil, secret: nil, ownerLimit: 0) == .added)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change is stored, except of fields that never change`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let former = world.client
            let full = try Self.full(former.id.rawValue, owner: world.user)
            let asked = RegisteredClient(
                id: former.id, type: .web, owner: full.owner, presentation: full.presentation,
                redirectURIs: full.redirectURIs, scope: full.scope, optionalScope: full.optionalScope,
                origins: full.origins, appleApps: full.appleApps, androidApps: full.androidApps, policy: full.policy,
                approval: full.approval, testers: full.testers, suspension: full.suspension,
                createdAt: World.now.addingTimeInterval(-99), changedAt: full.changedAt, revision: former.revision
            )
            #expect(try await world.store.updateClient(asked, logo: .keep) == .updated)
            var expected = full
            expected.revision = former.revision + 1
            #expect(try await world.store.client(former.id) == expected)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a hundred changes from one revision one is stored`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, client) = (world.store, world.client)
            let counts = try await outcomes(of: 100) { number in
                var changed = client
                changed.presentation.name = "Number \(number)"
                return try await store.updateClient(changed, logo: .keep)
            }
            #expect(counts == [.updated: 1, .changedMeanwhile: 99])
            let stored = try #require(try await store.client(client.id))
            #expect(stored.revision == client.revision + 1)
            #expect(stored.presentation.name.hasPrefix("Number "))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted client is not changed, and is not restored`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            #expect(try await world.store.removeClient(world.client.id))
            #expect(try await !world.store.removeClient(world.client.id))
            #expect(try await world.store.updateClient(world.client, logo: .keep) == .notFound)
            #expect(try await world.store.updateClient(world.client, logo: .replace(.example())) == .notFound)
            #expect(try await world.store.client(world.client.id) == nil)
            #expect(try await world.store.logo(Logo.example().id) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting a client deletes everything that was granted to it, and nothing else`(_ kind: StoreKind) async throws
    {
        try await kind.withWorld { world async throws in
            let other = World(
                world.store, user: world.user, client: try .named("other"), session: world.session)
            #expect(try await world.store.addClient(other.client) == .added)
            let (grant, otherGrant, page) = (world.grant(), other.grant(), InteractionIdentifier())
            let record = try CodeRecord.example(for: grant, interaction: page)
            #expect(try await world.store.recordConsent(world.approval(grant, record, pkce: .plain)) == .recorded)
            let otherRecord = try await other.approve(otherGrant)
            for client in [world.client, other.client] {
                #expect(try await world.store.addClientSecret(.example(of: client)) == .added)
            }

            #expect(try await world.store.removeClient(world.client.id))
            #expect(try await world.store.clients() == [other.client])
            #expect(try await world.store.grant(grant.id) == nil)
            #expect(try await world.store.code(record.digest) == nil)
            #expect(try await world.store.consumeCode(record.digest, beginning: nil, at: World.now) == .gone)
            #expect(try await world.consent == nil)
            #expect(try await world.store.clientSecrets(of: world.client.id) == [])
            #expect(try await world.store.pkceExceptionUse(of: world.client.id) == nil)
            let again = try CodeRecord.example(for: grant, interaction: page)
            #expect(try await world.store.recordConsent(world.approval(grant, again)) == .clientDeleted)

            #expect(try await world.store.consents(of: world.user.id).map(\.client) == [other.client])
            #expect(try await world.store.grant(otherGrant.id) == otherGrant)
            #expect(try await world.store.clientSecrets(of: other.client.id).count == 1)
            #expect(try await world.store.consumeCode(otherRecord.digest, beginning: nil, at: World.now) == .consumed)

            // A later client with the same identifier inherits nothing.
            #expect(try await world.store.addClient(world.client) == .added)
            #expect(try await world.consent == nil)
            #expect(try await world.store.clientSecrets(of: world.client.id) == [])
        }
    }

    // Every use of a PKCE exemption is counted, with the time of the last use.
    @Test(arguments: StoreKind.allCases)
    func `approvals without S256 are counted, each once`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            #expect(try await world.store.pkceExceptionUse(of: world.client.id) == nil)
            try await world.approve(world.grant())
            #expect(try await world.store.pkceExceptionUse(of: world.client.id) == nil)
            let grants = (0..<100).map { world.grant(at: World.now.addingTimeInterval(TimeInterval($0))) }
            let counts = try await outcomes(of: 100) { number in
                try await world.store.recordConsent(
                    world.approval(
                        grants[number], .example(for: grants[number]), pkce: number.isMultiple(of: 2) ? .plain : .none))
            }
            #expect(counts == [.recorded: 100])
            let expected = PKCEExceptionUse(count: 100, lastAt: World.now.addingTimeInterval(99))
            #expect(try await world.store.pkceExceptionUse(of: world.client.id) == expected)
        }
    }
}
