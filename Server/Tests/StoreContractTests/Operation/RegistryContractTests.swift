import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@Suite("The contract: the registry and its revision")
struct RegistryContractTests {
    /// Checks that the revision seen through one store changes with each change through another one.
    private struct Revisions {
        let store: any AuthorizationServerStore
        private var seen: Set<RegistryRevision> = []
        private var last: RegistryRevision

        init(of store: any AuthorizationServerStore) async throws {
            self.store = store
            last = try await store.registryRevision()
            seen.insert(last)
        }

        /// Expects a revision that the registry never had before.
        mutating func expectNew(_ change: Comment) async throws {
            last = try await store.registryRevision()
            #expect(seen.insert(last).inserted, change)
            #expect(try await store.registryRevision() == last, change)
        }

        func expectSame(_ change: Comment) async throws {
            #expect(try await store.registryRevision() == last, change)
        }
    }

    private static func api(_ uri: String) throws -> RegisteredResource {
        RegisteredResource(
            resource: try Resource(uri), clientID: try #require(RegisteredResource.newClientID()), name: "Photos",
            scope: Scope([.openID]), secret: ArtefactDigest(of: ClientSecret()), createdAt: World.now)
    }

    private static func key(_ id: String) -> SealedSigningKey {
        SealedSigningKey(id: KeyIdentifier(id), algorithm: .es256, sealed: [1, 2, 3], createdAt: World.now)
    }

    private static let verified = ClientPolicy(isClaimedHTTPSVerified: true)

    private static func unregistered(_ id: String) throws -> RegisteredClient {
        var client = try RegisteredClient.named(id)
        client.source = .registration(
            DynamicRegistration(
                metadata: Array("{}".utf8), accessToken: ArtefactDigest(of: RegistrationAccessToken())))
        return client
    }

    @Test(arguments: StoreKind.allCases)
    func `each change of a client or a secret gives a new revision in every process`(_ kind: StoreKind) async throws {
        try await kind.withBoth { store, other in
            let world = try await World(in: store)
            var revisions = try await Revisions(of: other)
            let secret = ClientSecretRecord.example(of: world.client)
            let added = try RegisteredClient.named("app-second")
            #expect(try await store.addClient(added) == .added)
            try await revisions.expectNew("client added")
            #expect(try await other.client(added.id) == added)
            #expect(try await store.updateClient(added, logo: .replace(.example())) == .updated)
            try await revisions.expectNew("client changed")
            #expect(try await other.client(added.id)?.presentation.logo == Logo.example().id)
            #expect(
                try await store.decide(.suspend(reason: "Spam"), on: added.id, at: World.now, recording: []) == .decided
            )
            try await revisions.expectNew("client suspended")
            #expect(try await other.client(added.id)?.suspension?.reason == "Spam")
            #expect(try await store.decide(.resume, on: added.id, at: World.now, recording: []) == .decided)
            try await revisions.expectNew("client resumed")
            #expect(try await other.client(added.id)?.suspension == nil)
            #expect(try await store.addClientSecret(secret) == .added)
            try await revisions.expectNew("secret added")
            #expect(try await other.clientSecrets(of: world.client.id) == [secret])
            #expect(try await store.removeClientSecret(secret.digest, of: world.client.id))
            try await revisions.expectNew("secret deleted")
            #expect(try await other.clientSecrets(of: world.client.id) == [])
            #expect(try await store.removeClient(added.id))
            try await revisions.expectNew("client deleted")
            #expect(try await other.client(added.id) == nil)

            let own = try Self.unregistered("app-own")
            #expect(try await store.addSelfRegisteredClient(own, secret: nil, unusedLimit: 10) == .added)
            try await revisions.expectNew("client registered itself")
            #expect(try await store.removeUnregisteredClient(own.id))
            try await revisions.expectNew("unregistered client deleted")
            #expect(try await store.addSelfRegisteredClient(own, secret: nil, unusedLimit: 10) == .added)
            try await revisions.expectNew("client registered itself again")
            let later = World.now + 100 * 86_400
            let limits = ExpirationLimits(
                now: later, codesBefore: World.now, sessionsIdleBefore: World.now, refreshIdleBefore: World.now,
                grantsBefore: World.now, unusedClientsBefore: later, idleClientsBefore: later)
            #expect(try await store.deleteExpired(limits, atMost: 10) > 0)
            try await revisions.expectNew("unused client deleted")
            #expect(try await other.client(own.id) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `each change of an API or a scope gives a new revision in every process`(_ kind: StoreKind) async throws {
        try await kind.withBoth { store, other in
            var revisions = try await Revisions(of: other)
            let api = try Self.api("https://api.example.com")
            #expect(try await store.addResource(api) == .added)
            try await revisions.expectNew("API added")
            #expect(try await other.resource(api.resource) == api)
            var renamed = api
            renamed.name = "Pictures"
            #expect(try await store.updateResource(renamed, from: api) == .updated)
            try await revisions.expectNew("API changed")
            #expect(try await other.resource(authenticatingAs: api.clientID) == renamed)
            #expect(try await store.replaceSecret(of: api.resource, with: ArtefactDigest(of: ClientSecret())))
            try await revisions.expectNew("secret of an API replaced")
            #expect(try await store.removeResource(api.resource))
            try await revisions.expectNew("API deleted")
            #expect(try await other.resource(api.resource) == nil)

            let token = try #require(Scope.Token("photos.read"))
            let scope = ScopeDefinition(token: token, description: "See your photos")
            #expect(try await store.addScope(scope) == .added)
            try await revisions.expectNew("scope added")
            var listed = scope
            listed.isListed = true
            #expect(try await store.updateScope(listed, from: scope) == .updated)
            try await revisions.expectNew("scope changed")
            #expect(try await other.scopes().contains(listed))
            var translated = listed
            translated.texts = [.german: "Ihre Fotos sehen"]
            #expect(try await store.updateScope(translated, from: listed) == .updated)
            try await revisions.expectNew("text of a scope changed")
            #expect(try await other.scopes().contains(translated))
            #expect(
                try await store.removeScope(token, takingFromUses: false, at: World.now)
                    == .removed(from: ScopeUses()))
            try await revisions.expectNew("scope deleted")
            #expect(try await other.scopes().count == ScopeDefinition.standard.count)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `each change of the policy, the branding or a signing key gives a new revision in every process`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withBoth { store, other in
            var revisions = try await Revisions(of: other)
            let policy = UnregisteredClientPolicy(kinds: [.document])
            #expect(try await store.updateUnregisteredClientPolicy(policy) == .updated)
            try await revisions.expectNew("policy changed")
            #expect(try await other.unregisteredClientPolicy().kinds == [.document])

            #expect(try await store.updateBranding(Branding(siteName: "Photos"), logo: .keep) == .updated)
            try await revisions.expectNew("name of the service changed")
            #expect(try await other.branding().siteName == "Photos")
            let statements = [Language.english: SiteStatement(text: "We sell nothing.")]
            #expect(
                try await store.updateBranding(Branding(statements: statements, revision: 1), logo: .keep) == .updated)
            try await revisions.expectNew("statement changed")
            #expect(try await other.branding().statements == statements)

            #expect(try await store.addFirstSigningKey(Self.key("first")) == .added)
            try await revisions.expectNew("first key added")
            #expect(try await store.addSigningKey(Self.key("second"), replacing: KeyIdentifier("first")) == .added)
            try await revisions.expectNew("key replaced")
            #expect(try await store.removeSigningKey(KeyIdentifier("first")))
            try await revisions.expectNew("key withdrawn")
            #expect(try await other.signingKeys().map(\.id) == [KeyIdentifier("second")])
            #expect(try await store.addSigningKey(Self.key("third"), replacing: KeyIdentifier("second")) == .added)
            try await revisions.expectNew("key replaced again")
            #expect(try await store.removeSigningKeys(replacedBefore: World.now + 1) == 1)
            try await revisions.expectNew("old key deleted")
            #expect(try await other.signingKeys().map(\.id) == [KeyIdentifier("third")])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change that fails leaves the revision`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let (api, unknown) = (try Self.api("https://api.example.com"), try RegisteredClient.named("app-unknown"))
            let token = try #require(Scope.Token("photos.read"))
            let scope = ScopeDefinition(token: token, description: "See your photos")
            #expect(try await store.addResource(api) == .added)
            #expect(try await store.addScope(scope) == .added)
            #expect(try await store.addFirstSigningKey(Self.key("first")) == .added)
            let used = try RegisteredClient.named("app-used", scope: Scope([token]))
            #expect(try await store.addClient(used) == .added)
            let revisions = try await Revisions(of: store)

            #expect(try await store.addClient(world.client) == .identifierTaken)
            var stale = world.client
            stale.revision = 7
            #expect(try await store.updateClient(stale, logo: .remove) == .changedMeanwhile)
            #expect(try await store.updateClient(unknown, logo: .keep) == .notFound)
            #expect(
                try await store.decide(.resume, on: world.client.id, at: World.now, recording: []) == .alreadyDecided)
            #expect(try await !store.removeClient(unknown.id))
            #expect(try await store.addClientSecret(.example(of: unknown)) == .clientDeleted)
            #expect(try await !store.removeClientSecret(ArtefactDigest(of: ClientSecret()), of: world.client.id))
            #expect(
                try await store.addSelfRegisteredClient(Self.unregistered("app-own"), secret: nil, unusedLimit: 0)
                    == .tooMany)
            #expect(try await !store.removeUnregisteredClient(world.client.id))
            try await revisions.expectSame("clients")

            #expect(try await store.addResource(api) == .exists)
            var other = api
            other.name = "Pictures"
            #expect(try await store.updateResource(api, from: other) == .changedMeanwhile)
            let missing = try Resource("https://missing.example.com")
            #expect(try await !store.replaceSecret(of: missing, with: api.secret))
            #expect(try await !store.removeResource(missing))
            #expect(try await store.addScope(scope) == .exists)
            var changed = scope
            changed.isListed = true
            #expect(try await store.updateScope(scope, from: changed) == .changedMeanwhile)
            guard case .inUse = try await store.removeScope(token, takingFromUses: false, at: World.now) else {
                Issue.record("the scope is in use")
                return
            }
            try await revisions.expectSame("APIs and scopes")

            #expect(
                try await store.updateUnregisteredClientPolicy(UnregisteredClientPolicy(revision: 7))
                    == .changedMeanwhile)
            #expect(try await store.updateBranding(Branding(revision: 7), logo: .remove) == .changedMeanwhile)
            #expect(try await store.addFirstSigningKey(Self.key("other")) == .algorithmHasKey)
            #expect(
                try await store.addSigningKey(Self.key("other"), replacing: KeyIdentifier("none")) == .algorithmHasKey)
            #expect(try await !store.removeSigningKey(KeyIdentifier("first")))
            #expect(try await store.removeSigningKeys(replacedBefore: World.now) == 0)
            try await revisions.expectSame("policy, branding and keys")

            // What happens with each sign-in is no change of the registry.
            let grant = world.grant()
            let code = try await world.approve(grant)
            #expect(try await store.consumeCode(code.digest, beginning: nil, at: World.now) == .consumed)
            #expect(try await store.revokeGrant(grant.id, because: .client, at: World.now) == .revoked)
            try await revisions.expectSame("grants")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `only verified native clients with an app are read for the association files`(
        _ kind: StoreKind
    ) async throws {
        let apple = [try #require(AppleApp("ABCDE12345.com.example.app"))]
        let android = [try #require(AndroidApp("com.example.app:" + String(repeating: "0A", count: 32)))]
        func client(
            _ id: String, type: ClientType = .native, policy: ClientPolicy = Self.verified, apple: [AppleApp] = [],
            android: [AndroidApp] = [], source: ClientSource = .console, after seconds: TimeInterval = 0
        ) throws -> RegisteredClient {
            RegisteredClient(
                id: try #require(ClientIdentifier(id)), type: type, presentation: ClientPresentation(name: id),
                redirectURIs: [], scope: Scope([.openID]), appleApps: apple, androidApps: android, source: source,
                policy: policy, createdAt: World.now + seconds)
        }
        let (first, second) = (
            try client("app-android", android: android), try client("app-apple", apple: apple, after: 1)
        )
        let others = [
            try client("app-none"), try client("app-web", type: .web, apple: apple),
            try client("app-unverified", policy: ClientPolicy(), apple: apple),
        ]
        try await kind.withStore { store async throws in
            #expect(try await store.associatedClients() == [])
            for client in others + [second, first] { #expect(try await store.addClient(client) == .added) }
            let own = try client(
                "app-own", apple: apple, source: try Self.unregistered("app-own").source)
            #expect(try await store.addSelfRegisteredClient(own, secret: nil, unusedLimit: 10) == .added)
            #expect(try await store.associatedClients() == [first, second])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the longest idle lifetime is that of the registered clients`(_ kind: StoreKind) async throws {
        func client(_ id: String, idle: Int?) throws -> RegisteredClient {
            var client = try RegisteredClient.named(id)
            client.policy.refreshTokenLife.idleLifetime = idle
            return client
        }
        try await kind.withStore { store async throws in
            #expect(try await store.longestRefreshIdleLifetime() == nil)
            #expect(try await store.addClient(try client("app-usual", idle: nil)) == .added)
            #expect(try await store.longestRefreshIdleLifetime() == nil)
            for (id, idle) in [("app-short", 60), ("app-long", 8_640_000), ("app-middle", 3600)] {
                #expect(try await store.addClient(try client(id, idle: idle)) == .added)
            }
            var own = try Self.unregistered("app-own")
            own.policy.refreshTokenLife.idleLifetime = 86_400_000
            #expect(try await store.addSelfRegisteredClient(own, secret: nil, unusedLimit: 10) == .added)
            #expect(try await store.longestRefreshIdleLifetime() == 8_640_000)
            #expect(try await store.removeClient(try #require(ClientIdentifier("app-long"))))
            #expect(try await store.longestRefreshIdleLifetime() == 3600)
        }
    }
}
