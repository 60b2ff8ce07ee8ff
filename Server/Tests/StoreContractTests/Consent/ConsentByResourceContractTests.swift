@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: consents by API")
struct ConsentByResourceContractTests {
    private static let later = World.now.addingTimeInterval(3600)

    /// Two APIs; the identifier of the second one has every part that a resource indicator can have.
    private struct APIs {
        let first: Resource
        let second: Resource
        let read: Scope.Token
        let write: Scope.Token

        init() throws {
            first = try Resource("https://first.example.com")
            second = try Resource("https://second.example.com/v1/%20?a=b&c=d,e;f")
            read = try #require(Scope.Token("photos.read"))
            write = try #require(Scope.Token("photos.write"))
        }
    }

    private static func grant(_ world: World, _ scope: [Scope.Token], at resources: Resource...) -> Grant {
        Grant(
            userID: world.user.id, clientID: world.client.id, scope: Scope(scope), resources: resources,
            sessionID: world.session.id, createdAt: World.now, lastUsedAt: World.now)
    }

    // The allowed scopes are stored per API; scopes that identify the user belong to no API.
    @Test(arguments: StoreKind.allCases)
    func `consent is stored by API`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let apis = try APIs()
            try await world.approve(Self.grant(world, [.openID, apis.read], at: apis.first))
            try await world.approve(Self.grant(world, [.openID, apis.write], at: apis.first, apis.second))
            try await world.approve(Self.grant(world, [.email, apis.write]))
            let consent = try #require(try await world.consent)
            #expect(consent.scope == Scope([.openID, .email, apis.read, apis.write]))
            #expect(consent.remembered == Scope([.openID, .email, apis.write]))
            #expect(
                consent.rememberedAt
                    == [apis.first: Scope([apis.read, apis.write]), apis.second: Scope([apis.write])])
            #expect(try await world.store.consents(of: world.user.id).map(\.consent) == [consent])
            // A scope that was left out at one API is still allowed at the other, but not without an API.
            try await world.approve(
                Self.grant(world, [.openID], at: apis.first), asked: Scope([.openID, .email, apis.write]))
            let narrower = try #require(try await world.consent)
            #expect(narrower.remembered == Scope([.openID]))
            #expect(narrower.rememberedAt == [apis.first: Scope([apis.read]), apis.second: Scope([apis.write])])
        }
    }

    // RFC 9068 §3: what was allowed without an API counts for the API of the scope, and not where an API is named.
    @Test(arguments: StoreKind.allCases)
    func `consent without an API supports an approval for the API of the scope`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let apis = try APIs()
            func record(
                _ scope: [Scope.Token], at consentTarget: ConsentTarget, basis: ApprovalBasis
            ) async throws -> RecordConsentOutcome {
                let grant = Self.grant(world, scope, at: apis.first)
                return try await world.store.recordConsent(
                    world.approval(
                        grant, try CodeRecord.example(for: grant), consentTarget: consentTarget, basis: basis))
            }
            try await world.approve(Self.grant(world, [.openID, apis.read, apis.write]))
            #expect(
                try await record([apis.read], at: .apis([apis.first]), basis: .rememberedConsent) == .consentWithdrawn)
            #expect(
                try await record([.openID, apis.read], at: .apiOfScope(apis.first), basis: .rememberedConsent)
                    == .recorded)
            #expect(try await world.consent?.remembered == Scope([.openID, apis.read, apis.write]))
            #expect(try await world.consent?.rememberedAt == [apis.first: Scope([apis.read])])
            #expect(try await record([apis.read], at: .apis([apis.first]), basis: .rememberedConsent) == .recorded)
            #expect(
                try await record([apis.read], at: .apis([apis.first, apis.second]), basis: .rememberedConsent)
                    == .consentWithdrawn)
        }
    }

    // A scope that no grant contains any more is forgotten, for each API separately.
    @Test(arguments: StoreKind.allCases)
    func `revoked consent is deleted at its API`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let apis = try APIs()
            let grants = [
                Self.grant(world, [apis.read, apis.write], at: apis.first),
                Self.grant(world, [apis.read], at: apis.second), Self.grant(world, [.openID, apis.read]),
            ]
            for grant in grants { try await world.approve(grant) }
            #expect(try await world.store.revokeGrant(grants[1].id, because: .client, at: Self.later) == .revoked)
            #expect(try await world.consent?.rememberedAt == [apis.first: Scope([apis.read, apis.write])])
            #expect(
                try await world.store.narrowConsent(
                    of: world.user.id, to: world.client.id, keeping: Scope([.openID, apis.read]), at: Self.later)
                    == .narrowed)
            #expect(try await world.consent?.rememberedAt == [apis.first: Scope([apis.read])])
            #expect(try await world.store.revokeGrant(grants[2].id, because: .client, at: Self.later) == .revoked)
            // The same scope is still allowed at another API, which does not allow it for the service
            // itself.
            #expect(try await world.consent?.scope == Scope([apis.read]))
            #expect(try await world.consent?.remembered == Scope())
            #expect(try await world.store.revokeGrant(grants[0].id, because: .client, at: Self.later) == .revoked)
            #expect(try await world.consent == nil)
        }
    }

    // RFC 3986 §6.2.2.1 and §6.2.3: a grant and its consent have the spelling of their time, the API has another one.
    @Test(arguments: StoreKind.allCases)
    func `a consent and a token family name their API in any equal spelling`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let apis = try APIs()
            let other = try Resource("HTTPS://First.example.com:443/")
            let api = RegisteredResource(
                resource: other, clientID: try #require(RegisteredResource.newClientID()), name: "First",
                scope: Scope([.openID]), secret: ArtefactDigest(of: ClientSecret()), createdAt: World.now)
            #expect(try await world.store.addResource(api) == .added)
            let grant = Self.grant(world, [.offlineAccess, apis.read], at: apis.first)
            let family = try await Self.redeem(try await world.approve(grant), of: grant, in: world)
            try await world.approve(Self.grant(world, [apis.write], at: other))
            let consent = try #require(try await world.consent)
            #expect(consent.rememberedAt == [apis.first: Scope([apis.read, apis.write])])
            let facts = try #require(try await world.store.refreshFacts(family))
            #expect(try await world.store.resource(apis.first)?.resource.rawValue == other.rawValue)
            #expect(facts.grant.resources.map(\.rawValue) == [apis.first.rawValue])
        }
    }

    // RFC 6749 §3.3: a later authorization gives a grant of its own; the earlier one keeps its scope and its tokens.
    @Test(arguments: StoreKind.allCases)
    func `an approval of further scopes keeps the earlier grant and its token family`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let apis = try APIs()
            let first = Self.grant(world, [.offlineAccess, apis.read], at: apis.first)
            let family = try await Self.redeem(try await world.approve(first), of: first, in: world)
            for scope in [[apis.write], [.offlineAccess, apis.read, apis.write]] {
                try await world.approve(Self.grant(world, scope, at: apis.first))
            }
            let facts = try #require(try await world.store.refreshFacts(family))
            #expect(facts.grant.scope == Scope([.offlineAccess, apis.read]))
            #expect(facts.grant.revokedAt == nil)
            #expect(try await world.consent?.rememberedAt == [apis.first: Scope([apis.read, apis.write])])
        }
    }

    /// Redeems a code, and returns the digest of the token family that starts with it.
    private static func redeem(
        _ code: CodeRecord, of grant: Grant, in world: World
    ) async throws -> ArtefactDigest {
        let family = RefreshFamily(
            digest: ArtefactDigest(ofFamily: RandomBytes().bytes(16)), grantID: grant.id, keyThumbprint: nil,
            rotatedAt: World.now, lastUsedAt: World.now, expiresAt: World.now.addingTimeInterval(86_400))
        #expect(
            try await world.store.consumeCode(code.digest, beginning: family, at: World.now) == .consumed)
        return family.digest
    }
}
