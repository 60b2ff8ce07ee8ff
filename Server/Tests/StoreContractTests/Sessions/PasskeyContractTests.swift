import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: passkeys")
struct PasskeyContractTests {
    private static func passkey(_ number: UInt8, of user: User) -> Passkey {
        Passkey(
            credentialID: [UInt8](repeating: number, count: 40), userID: user.id, publicKey: [0xA5, number],
            name: "Key \(number)", model: [UInt8](repeating: 9, count: 16), transports: ["hybrid", "internal"],
            isBackupEligible: true, isBackedUp: true, signatureCounter: .max,
            createdAt: World.now + TimeInterval(number))
    }

    @Test(arguments: StoreKind.allCases)
    func `passkeys are read back, oldest first, and one with its user`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (first, second) = (Self.passkey(1, of: world.user), Self.passkey(2, of: world.user))
            #expect(try await world.store.addPasskey(second, recording: []) == .added)
            #expect(try await world.store.addPasskey(first, recording: []) == .added)
            #expect(try await world.store.passkeys(of: world.user.id) == [first, second])
            let facts = try await world.store.passkey(first.digest)
            #expect(facts == PasskeyFacts(passkey: first, user: world.user))
            #expect(try await world.store.passkey(Self.passkey(3, of: world.user).digest) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a credential belongs to one user, and a user has a limited number`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let bob = try User.named("bob")
            #expect(try await world.store.addUser(bob) == .added)
            for number in 0..<UInt8(Passkey.limitPerUser) {
                #expect(try await world.store.addPasskey(Self.passkey(number, of: world.user), recording: []) == .added)
            }
            #expect(try await world.store.addPasskey(Self.passkey(99, of: world.user), recording: []) == .tooMany)
            #expect(try await world.store.addPasskey(Self.passkey(1, of: bob), recording: []) == .exists)
            #expect(try await world.store.addPasskey(Self.passkey(99, of: bob), recording: []) == .added)
            #expect(try await world.store.disableUser(bob.id, at: World.now, recording: []) == .changed)
            #expect(try await world.store.addPasskey(Self.passkey(98, of: bob), recording: []) == .userNotActive)
            let nobody = try User.named("nobody")
            #expect(try await world.store.addPasskey(Self.passkey(97, of: nobody), recording: []) == .userNotActive)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a user without a passkey is offered one once`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user.id)
            let offers = try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask { try await store.notePasskeyOffer(to: user, at: World.now, recording: []) }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(offers == 1)
            let (bob, eve, nobody) = (try User.named("bob"), try User.named("eve"), try User.named("nobody"))
            #expect(try await store.addUser(bob) == .added)
            #expect(try await store.addPasskey(Self.passkey(1, of: bob), recording: []) == .added)
            #expect(try await store.addUser(eve) == .added)
            #expect(try await store.disableUser(eve.id, at: World.now, recording: []) == .changed)
            for user in [bob, eve, nobody] {
                #expect(try await !store.notePasskeyOffer(to: user.id, at: World.now, recording: []))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `only the user renames and deletes a passkey`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user.id)
            let bob = try User.named("bob")
            #expect(try await store.addUser(bob) == .added)
            let passkey = Self.passkey(1, of: world.user)
            #expect(try await store.addPasskey(passkey, recording: []) == .added)
            #expect(try await !store.renamePasskey(passkey.digest, of: bob.id, to: "Mine", recording: []))
            #expect(try await store.removePasskey(passkey.digest, of: bob.id, recording: []) == .notFound)
            #expect(try await !store.removePasskeys(of: bob.id, requiredRole: nil, recording: []))
            #expect(try await store.renamePasskey(passkey.digest, of: user, to: "Phone", recording: []))
            #expect(try await store.passkeys(of: user).map(\.name) == ["Phone"])
            #expect(try await store.removePasskey(passkey.digest, of: user, recording: []) == .removed)
            #expect(try await store.removePasskey(passkey.digest, of: user, recording: []) == .notFound)
            #expect(try await !store.renamePasskey(passkey.digest, of: user, to: "Phone", recording: []))
            #expect(try await store.passkeys(of: user).isEmpty)
        }
    }

    // The removal of the password, and of the last passkey, are judged in the commit.
    @Test(arguments: StoreKind.allCases)
    func `of all removals of ways in at once, one way in is left`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user)
            let passkeys = (1...3).map { Passkey.example(UInt8($0), of: user) }
            for passkey in passkeys { #expect(try await store.addPasskey(passkey, recording: []) == .added) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for passkey in passkeys {
                    group.addTask { _ = try await store.removePasskey(passkey.digest, of: user.id, recording: []) }
                }
                group.addTask {
                    _ = try await store.changePassword(
                        of: user.id, from: .example, to: nil, keeping: nil, at: World.now)
                }
                try await group.waitForAll()
            }
            let left = try await store.passkeys(of: user.id)
            let hasPassword = try await store.user(user.id)?.passwordHash != nil
            #expect(hasPassword || left.count == 1)
            guard !hasPassword, let last = left.first else { return }
            #expect(try await store.removePasskey(last.digest, of: user.id, recording: []) == .neededAsWayIn)
            #expect(try await store.passkeys(of: user.id) == [last])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a password whose second factor is lost is no way in`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user)
            let passkeys = (1...2).map { Passkey.example(UInt8($0), of: user) }
            for passkey in passkeys { #expect(try await store.addPasskey(passkey, recording: []) == .added) }
            let added = try await store.addSecondFactor(
                .example(of: user), recoveryCodes: [], keeping: nil, recording: [])
            #expect(added == .added)
            #expect(try await store.removePasskey(passkeys[0].digest, of: user.id, recording: []) == .removed)
            let database = try #require(store as? any SQLStore).database
            try await database.engine.commit(ending: .none) { try $0.send("DELETE FROM second_factors") }
            #expect(try await store.removePasskey(passkeys[1].digest, of: user.id, recording: []) == .neededAsWayIn)
            #expect(try await store.resetSecondFactor(of: user.id, recording: []))
            #expect(try await store.removePasskey(passkeys[1].digest, of: user.id, recording: []) == .removed)
        }
    }

    @Test func `the last way in stays, and a password until two passkeys are left`() {
        for (hasPassword, passkeys, password, passkey) in [
            (true, 0, false, true), (true, 1, false, true), (true, 2, true, true), (false, 1, false, false),
            (false, 2, true, true),
        ] {
            let ways = WaysIn(hasPassword: hasPassword, passkeys: passkeys)
            #expect(ways.allows(.password) == password && ways.allows(.passkey) == passkey, "\(ways)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a session begins with a passkey, and records its use`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let passkey = Self.passkey(1, of: world.user)
            #expect(try await world.store.addPasskey(passkey, recording: []) == .added)
            let use = PasskeyUse.example(of: passkey)
            let session = Session(
                digest: ArtefactDigest(of: SessionToken()), userID: world.user.id, authenticatedAt: World.now,
                methods: [.passkey], lastSeenAt: World.now, expiresAt: World.now + 3600, userAgent: "Firefox",
                source: "192.0.2.9")
            #expect(
                try await world.store.beginSession(session, proving: .passkey(use), replacing: nil)
                    == .begun(session.id))
            #expect(try await world.store.session(session.digest)?.session == session)
            let used = try #require(try await world.store.passkeys(of: world.user.id).first)
            #expect(used.lastUse == Passkey.Use(time: World.now, userAgent: "Firefox", source: "192.0.2.9"))
            #expect(used.signatureCounter == 7 && !used.isBackedUp && used.isBackupEligible)

            // The challenge begins no other session, until the server refuses it for its age.
            let again = Session.example(of: world.user)
            #expect(
                try await world.store.beginSession(again, proving: .passkey(use), replacing: session.digest)
                    == .challengeUsed)
            #expect(try await world.store.session(session.digest) != nil)
            #expect(try await world.store.session(again.digest) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted passkey, and one of another user, begins no session`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let bob = try User.named("bob")
            #expect(try await world.store.addUser(bob) == .added)
            let (own, bobs) = (Self.passkey(1, of: world.user), Self.passkey(2, of: bob))
            #expect(try await world.store.addPasskey(own, recording: []) == .added)
            #expect(try await world.store.addPasskey(bobs, recording: []) == .added)
            #expect(try await world.store.removePasskey(own.digest, of: world.user.id, recording: []) == .removed)
            for passkey in [own, bobs] {
                let use = PasskeyUse.example(of: passkey)
                let session = Session.example(of: world.user)
                let outcome = try await world.store.beginSession(session, proving: .passkey(use), replacing: nil)
                #expect(outcome == .proofOutdated)
                #expect(try await world.store.session(session.digest) == nil)
            }
            #expect(try await world.store.passkeys(of: bob.id) == [bobs])
            #expect(try await world.store.disableUser(bob.id, at: World.now, recording: []) == .changed)
            let use = PasskeyUse.example(of: bobs)
            let refused = try await world.store.beginSession(
                Session.example(of: bob), proving: .passkey(use), replacing: nil)
            #expect(refused == .userNotActive)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the passkeys of a deleted user are gone, and all of a user can be deleted`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let passkey = Self.passkey(1, of: world.user)
            #expect(try await world.store.addPasskey(passkey, recording: []) == .added)
            #expect(try await world.store.addPasskey(Self.passkey(2, of: world.user), recording: []) == .added)
            #expect(try await world.store.removePasskeys(of: world.user.id, requiredRole: nil, recording: []))
            #expect(try await world.store.addPasskey(passkey, recording: []) == .added)
            _ = try await world.beginRemoval()
            #expect(try await world.store.passkey(passkey.digest) == nil)
            #expect(try await world.store.passkeys(of: world.user.id).isEmpty)
        }
    }
}

extension PasskeyUse {
    fileprivate static func example(of passkey: Passkey) -> PasskeyUse {
        PasskeyUse(
            digest: passkey.digest, signatureCounter: 7, isBackedUp: false,
            challenge: ArtefactDigest(ofCredentialID: [1]), challengeExpires: World.now + 1800)
    }
}
