import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

/// The artefacts that a restore ends without a journal that names them.
@Suite("The contract: the artefacts of a restored store")
struct RestoredArtefactContractTests {
    private static let kinds: [StoreKind] = [.sqlite, .postgreSQL]

    /// Something that gives access, with a check that the store still accepts it.
    struct Artefact: Sendable, CustomTestStringConvertible {
        typealias Check = @Sendable () async throws -> Bool

        let testDescription: String
        /// Adds the artefact to the store of a world, and returns the check.
        let add: @Sendable (World) async throws -> Check

        init(_ name: String, _ add: @escaping @Sendable (World) async throws -> Check) {
            testDescription = name
            self.add = add
        }
    }

    private static let signIns = [
        Artefact("a grant") { world async throws in
            let grant = world.grant()
            try await world.approve(grant)
            return { [store = world.store] in try await store.grantFacts(grant.id)?.hold == true }
        },
        Artefact("a remembered consent") { world async throws in
            try await world.approve(world.grant())
            return { try await world.consent.map { !$0.remembered.isEmpty } == true }
        },
        Artefact("a consent that is remembered for an API") { world async throws in
            let resource = try Resource("https://photos.example.com")
            // No standard scope, which would be remembered without the API.
            let grant = Grant(
                userID: world.user.id, clientID: world.client.id,
                scope: Scope([try #require(Scope.Token("photos.read"))]), resources: [resource],
                sessionID: world.session.id, createdAt: World.now, lastUsedAt: World.now)
            try await world.approve(grant)
            #expect(try await world.consent?.remembered.isEmpty == true)
            return { try await world.consent?.rememberedAt[resource] != nil }
        },
        Artefact("a session") { world async throws in
            { try await world.store.session(world.session.digest) != nil }
        },
        Artefact("an initial access token") { world async throws in
            let token = InitialAccessToken(
                digest: ArtefactDigest(of: InitialAccessTokenText()), name: "Partners", createdAt: World.now,
                expiresAt: World.now + 10 * 365 * 86_400)
            try await world.store.addInitialAccessToken(token, recording: [])
            return { try await world.store.initialAccessToken(token.digest, at: World.now) != nil }
        },
        Artefact("a signing key") { world async throws in
            let key = SealedSigningKey(
                id: KeyIdentifier("first"), algorithm: .es256, sealed: [1], createdAt: World.now,
                signsFrom: World.now)
            _ = try await world.store.addFirstSigningKey(key, recording: [])
            return { try await world.store.signingKeys().contains { $0.id == key.id } }
        },
    ]

    // Without one of the statements of endSignIns(), a case fails.
    @Test(arguments: kinds, signIns)
    func `ending every sign-in leaves nothing with which an earlier one could continue`(
        _ kind: StoreKind, _ artefact: Artefact
    ) async throws {
        try await kind.withWorld { world async throws in
            let isAccepted = try await artefact.add(world)
            #expect(try await isAccepted())
            try await Self.restored(world).endSignIns()
            #expect(try await !isAccepted())
        }
    }

    private static let ofOneUse = [
        Artefact("a code") { world async throws in
            let code = try await world.approve(world.grant())
            return { try await world.store.code(code.digest) != nil }
        },
        Artefact("a code for which a device polls") { world async throws in
            let (_, code) = try await world.approve(world.addDevice())
            return { try await world.store.code(code.digest) != nil }
        },
        Artefact("a device authorization") { world async throws in
            let device = try await world.addDevice()
            return { try await world.store.deviceAuthorization(userCode: device.userCode, at: World.now) != nil }
        },
        Artefact("a pushed request") { world async throws in
            let request = PushedRequest(
                digest: ArtefactDigest(of: PushedRequestURI()), clientID: world.client.id,
                parameters: "client_id=app-lightbox", source: nil, pushedAt: World.now, expiresAt: World.now + 60)
            let outcome = try await world.store.addPushedRequest(
                request, within: PushedRequestLimits(ofClient: 4, fromSource: 4))
            #expect(outcome == .added)
            return {
                try await world.store.openPushedRequest(
                    request.digest, of: world.client.id, at: World.now + 1, until: World.now + 1801) != nil
            }
        },
    ]

    // What was used after the copy must not be usable a second time, with a journal, too.
    @Test(arguments: kinds, ofOneUse)
    func `no restored store has what was issued for one use`(_ kind: StoreKind, _ artefact: Artefact) async throws {
        try await kind.withWorld { world async throws in
            let isAccepted = try await artefact.add(world)
            #expect(try await isAccepted())
            let restored = try Self.restored(world)
            try await restored.begin()
            try await restored.finish(recording: [], continuing: nil)
            #expect(try await !isAccepted())
            // The sign-in is another matter.
            #expect(try await world.store.session(world.session.digest) != nil)
        }
    }

    private static func restored(_ world: World) throws -> RestoredStore {
        RestoredStore(
            try #require(world.store as? any SQLStore),
            serverKey: try #require(ServerKey(bytes: [UInt8](repeating: 7, count: 32))))
    }
}
