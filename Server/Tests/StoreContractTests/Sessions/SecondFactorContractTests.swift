import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: second factors")
struct SecondFactorContractTests {
    private static func digest() -> ArtefactDigest { ArtefactDigest(of: SessionToken()) }

    private static func factor(of user: User, sealedBy keyName: String = "0a0a0a0a") -> SecondFactor {
        SecondFactor(
            userID: user.id, digest: digest(), sealedSecret: [1, 2, 3], keyName: keyName, createdAt: World.now,
            lastStep: 60_000_000)
    }

    private static func begin(
        _ world: World, _ use: SecondFactorUse?, hash: PasswordHash = .example
    ) async throws -> BeginSessionOutcome {
        let session = Session.example(of: world.user)
        let proof = use.map { SignInProof.twoFactors(hash, $0) } ?? .password(hash)
        let outcome = try await world.store.beginSession(session, proving: proof, replacing: nil)
        #expect(try await (world.store.session(session.digest) != nil) == (outcome == .begun(session.id)))
        return outcome
    }

    private static func isBegun(_ outcome: BeginSessionOutcome) -> Bool {
        if case .begun = outcome { true } else { false }
    }

    @Test(arguments: StoreKind.allCases)
    func `a second factor is read back with the number of its recovery codes`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user.id)
            #expect(try await store.secondFactor(of: user) == .none)
            let factor = Self.factor(of: world.user)
            let codes = (0..<3).map { _ in Self.digest() }
            #expect(
                try await store.addSecondFactor(factor, recoveryCodes: codes, keeping: nil, recording: []) == .added)
            #expect(try await store.secondFactor(of: user) == .active(factor, recoveryCodes: 3))
            #expect(try await store.hasRecoveryCode(codes[0], of: user))
            #expect(try await !store.hasRecoveryCode(Self.digest(), of: user))
            let another = Self.factor(of: world.user)
            #expect(try await store.addSecondFactor(another, recoveryCodes: [], keeping: nil, recording: []) == .exists)
            let nobody = Self.factor(of: try User.named("nobody"))
            #expect(
                try await store.addSecondFactor(nobody, recoveryCodes: [], keeping: nil, recording: [])
                    == .userNotActive)
        }
    }

    private static func keyUse(_ key: Passkey, challenge: ArtefactDigest = digest()) -> PasskeyUse {
        PasskeyUse(
            digest: key.digest, signatureCounter: 5, isBackedUp: false, challenge: challenge,
            challengeExpires: World.now + 600)
    }

    @Test(arguments: StoreKind.allCases)
    func `a security key is no passkey, and proves the second factor once for each challenge`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user)
            let factor = Self.factor(of: user)
            let (key, passkey) = (Passkey.example(1, of: user), Passkey.example(2, of: user))
            func change(_ change: SecondFactorChange, step: Int64) async throws -> ChangeSecondFactorOutcome {
                try await store.changeSecondFactor(
                    of: user.id, to: change, proving: .code(factor.digest, step: factor.lastStep + step), recording: [])
            }
            #expect(try await change(.keyAddition(key), step: 1) == .proofOutdated)
            #expect(try await store.addSecondFactor(factor, recoveryCodes: [], keeping: nil, recording: []) == .added)
            #expect(try await store.addPasskey(passkey, recording: []) == .added)
            #expect(try await change(.keyAddition(key), step: 1) == .changed)
            #expect(try await change(.keyAddition(key), step: 2) == .keyExists)
            #expect(try await change(.keyAddition(passkey), step: 2) == .keyExists)
            #expect(try await store.securityKeys(of: user.id) == [key])
            #expect(try await store.passkeys(of: user.id) == [passkey])
            #expect(try await store.passkey(key.digest)?.isSecurityKey == true)
            #expect(try await store.users(matching: UserQuery()).users.map(\.passkeys) == [1])
            #expect(try await store.removalCounts(of: user.id)?.passkeys == UserCount(1))
            #expect(try await store.removePasskey(key.digest, of: user.id, recording: []) == .notFound)
            // It is no way in.
            let outcome = try await store.changePassword(
                of: user.id, from: .example, to: nil, keeping: nil, at: World.now)
            #expect(outcome == .neededAsWayIn)
            let alone = Session.example(of: user)
            #expect(
                try await store.beginSession(alone, proving: .passkey(Self.keyUse(key)), replacing: nil)
                    == .proofOutdated)

            let challenge = Self.digest()
            for used in [key, passkey] {
                let use = Self.keyUse(used, challenge: used == key ? challenge : Self.digest())
                #expect(Self.isBegun(try await Self.begin(world, .key(factor.digest, use))))
            }
            #expect(try await store.securityKeys(of: user.id).first?.signatureCounter == 5)
            let again = SecondFactorUse.key(factor.digest, Self.keyUse(passkey, challenge: challenge))
            #expect(try await Self.begin(world, again) == .challengeUsed)
            let other = SecondFactorUse.key(Self.digest(), Self.keyUse(key))
            #expect(try await Self.begin(world, other) == .proofOutdated)

            #expect(try await change(.keyRemoval(passkey.digest), step: 3) == .keyNotFound)
            #expect(try await change(.keyRemoval(key.digest), step: 3) == .changed)
            #expect(
                try await Self.begin(world, .key(factor.digest, Self.keyUse(key))) == .proofOutdated)
            #expect(try await change(.keyAddition(key), step: 4) == .changed)
            #expect(try await store.resetSecondFactor(of: user.id, recording: []))
            #expect(try await store.securityKeys(of: user.id).isEmpty)
            #expect(try await store.passkeys(of: user.id).map(\.digest) == [passkey.digest])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a second factor without an app accepts no code, and keeps its last key`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user)
            let (key, second) = (Passkey.example(1, of: user), Passkey.example(2, of: user))
            let factor = SecondFactor(
                userID: user.id, digest: Self.digest(), sealedSecret: [1], keyName: "0a0a0a0a", createdAt: World.now,
                hasApp: false, lastStep: 0)
            func add(_ factor: SecondFactor, _ key: Passkey) async throws -> AddSecondFactorOutcome {
                try await store.addSecondFactor(
                    factor, recoveryCodes: [Self.digest()], key: key, keeping: nil, recording: [])
            }
            func change(_ change: SecondFactorChange) async throws -> ChangeSecondFactorOutcome {
                try await store.changeSecondFactor(
                    of: user.id, to: change, proving: .confirmed(factor.digest), recording: [])
            }
            #expect(try await add(factor, key) == .added)
            #expect(try await add(factor, second) == .exists)
            #expect(try await store.secondFactor(of: user.id) == .active(factor, recoveryCodes: 1))
            #expect(try await store.securityKeys(of: user.id) == [key])
            #expect(try await store.users(matching: UserQuery(lacksPasskey: true)).users.map(\.user.id) == [user.id])
            // The key of another user is none.
            let bob = try User.named("bob")
            #expect(try await store.addUser(bob) == .added)
            let bobs = SecondFactor(
                userID: bob.id, digest: Self.digest(), sealedSecret: [1], keyName: "0a0a0a0a", createdAt: World.now,
                hasApp: false, lastStep: 0)
            #expect(try await add(bobs, Passkey.example(1, of: bob)) == .keyExists)
            #expect(try await store.secondFactor(of: bob.id) == .none)
            #expect(try await Self.begin(world, .code(factor.digest, step: 1)) == .proofOutdated)
            #expect(Self.isBegun(try await Self.begin(world, .key(factor.digest, Self.keyUse(key)))))
            // A proof is recorded without a change, and then counts for the second factor that it is about.
            let use = SecondFactorUse.key(factor.digest, Self.keyUse(key))
            for expected in [ChangeSecondFactorOutcome.changed, .proofOutdated] {
                let outcome = try await store.changeSecondFactor(
                    of: user.id, to: .confirmation, proving: use, recording: [])
                #expect(outcome == expected)
            }
            #expect(try await change(.keyRemoval(key.digest)) == .lastKey)
            #expect(try await change(.keyAddition(second)) == .changed)
            #expect(try await change(.keyRemoval(key.digest)) == .changed)
            #expect(try await change(.keyRemoval(second.digest)) == .lastKey)
            let app = Self.factor(of: user)
            #expect(try await change(.replacement(app, recoveryCodes: [], keeping: nil)) == .changed)
            #expect(try await change(.removal) == .proofOutdated)
            #expect(try await store.securityKeys(of: user.id) == [second])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the password alone begins no session of a user with a second factor`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            #expect(Self.isBegun(try await Self.begin(world, nil)))
            let factor = Self.factor(of: world.user)
            #expect(
                try await world.store.addSecondFactor(factor, recoveryCodes: [], keeping: nil, recording: []) == .added)
            #expect(try await Self.begin(world, nil) == .proofOutdated)
            // A session continues with a new password.
            let session = Session.example(of: world.user)
            let proof = SignInProof.continued(.example, [.password])
            #expect(
                try await world.store.beginSession(session, proving: proof, replacing: nil) == .begun(session.id))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a setup and a replacement end the other sessions of the user`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user.id)
            let (first, second) = (Self.factor(of: world.user), Self.factor(of: world.user))
            let kept = Session.example(of: world.user)
            #expect(
                try await store.beginSession(kept, proving: .continued(.example, [.password]), replacing: nil)
                    == .begun(kept.id))
            #expect(
                try await store.addSecondFactor(first, recoveryCodes: [], keeping: kept.digest, recording: []) == .added
            )
            #expect(try await store.sessions(of: user).map(\.digest) == [kept.digest])
            func use(_ step: Int64) -> SecondFactorUse { .code(first.digest, step: first.lastStep + step) }
            #expect(Self.isBegun(try await Self.begin(world, use(1))))
            let change = SecondFactorChange.replacement(second, recoveryCodes: [], keeping: kept.digest)
            let changed = try await store.changeSecondFactor(of: user, to: change, proving: use(2), recording: [])
            #expect(changed == .changed)
            #expect(try await store.sessions(of: user).map(\.digest) == [kept.digest])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a code of a time step counts once, and none before it`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let factor = Self.factor(of: world.user)
            #expect(
                try await world.store.addSecondFactor(factor, recoveryCodes: [], keeping: nil, recording: []) == .added)
            func use(_ step: Int64) -> SecondFactorUse { .code(factor.digest, step: factor.lastStep + step) }
            #expect(try await Self.begin(world, use(0)) == .proofOutdated)
            #expect(try await Self.begin(world, use(2), hash: .other) == .proofOutdated)
            #expect(Self.isBegun(try await Self.begin(world, use(2))))
            #expect(try await Self.begin(world, use(2)) == .proofOutdated)
            #expect(try await Self.begin(world, use(1)) == .proofOutdated)
            #expect(Self.isBegun(try await Self.begin(world, use(3))))
            #expect(try await Self.begin(world, .code(Self.digest(), step: .max)) == .proofOutdated)
            #expect(Self.isBegun(try await Self.begin(world, .remembered(factor.digest))))
            #expect(try await Self.begin(world, .remembered(Self.digest())) == .proofOutdated)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of two sessions with one code at once, one begins`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (factor, code) = (Self.factor(of: world.user), Self.digest())
            #expect(
                try await world.store.addSecondFactor(factor, recoveryCodes: [code], keeping: nil, recording: [])
                    == .added)
            for use in [SecondFactorUse.code(factor.digest, step: factor.lastStep + 1), .recoveryCode(code)] {
                let begun = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for _ in 0..<4 { group.addTask { Self.isBegun(try await Self.begin(world, use)) } }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(begun == 1)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a recovery code of the user begins one session`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let other = try await world.adding("bob")
            let (code, bobs) = (Self.digest(), Self.digest())
            for (world, code) in [(world, code), (other, bobs)] {
                let factor = Self.factor(of: world.user)
                #expect(
                    try await world.store.addSecondFactor(factor, recoveryCodes: [code], keeping: nil, recording: [])
                        == .added)
            }
            #expect(try await Self.begin(world, .recoveryCode(bobs)) == .proofOutdated)
            #expect(Self.isBegun(try await Self.begin(world, .recoveryCode(code))))
            #expect(try await Self.begin(world, .recoveryCode(code)) == .proofOutdated)
            #expect(try await world.store.hasRecoveryCode(bobs, of: other.user.id))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a session begins with the setup of the only second factor`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (factor, code) = (Self.factor(of: world.user), Self.digest())
            #expect(Self.isBegun(try await Self.begin(world, .setup(factor, recoveryCodes: [code]))))
            #expect(try await world.store.secondFactor(of: world.user.id) == .active(factor, recoveryCodes: 1))
            let another = Self.factor(of: world.user)
            #expect(try await Self.begin(world, .setup(another, recoveryCodes: [])) == .proofOutdated)
            #expect(try await world.store.secondFactor(of: world.user.id) == .active(factor, recoveryCodes: 1))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `each change needs a proof that counts once`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user.id)
            let (first, second, code) = (Self.factor(of: world.user), Self.factor(of: world.user), Self.digest())
            func change(_ change: SecondFactorChange, _ use: SecondFactorUse) async throws -> ChangeSecondFactorOutcome
            {
                try await store.changeSecondFactor(of: user, to: change, proving: use, recording: [])
            }
            func use(_ step: Int64) -> SecondFactorUse { .code(first.digest, step: first.lastStep + step) }
            #expect(try await change(.removal, use(1)) == .proofOutdated)
            #expect(
                try await store.addSecondFactor(first, recoveryCodes: [code], keeping: nil, recording: []) == .added)
            #expect(try await change(.removal, use(0)) == .proofOutdated)
            let others = [Self.digest(), Self.digest()]
            #expect(try await change(.recoveryCodes(others), use(1)) == .changed)
            #expect(try await change(.recoveryCodes([]), use(1)) == .proofOutdated)
            #expect(try await change(.removal, .recoveryCode(code)) == .proofOutdated)
            #expect(try await change(.replacement(second, recoveryCodes: [code], keeping: nil), use(2)) == .changed)
            #expect(try await store.secondFactor(of: user) == .active(second, recoveryCodes: 1))
            #expect(try await change(.removal, use(3)) == .proofOutdated)
            #expect(try await !store.hasRecoveryCode(others[0], of: user))
            #expect(try await change(.removal, .recoveryCode(code)) == .changed)
            #expect(try await store.secondFactor(of: user) == .none)
            #expect(Self.isBegun(try await Self.begin(world, nil)))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operator removes a second factor, and a deleted user has none`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user.id)
            #expect(try await !store.resetSecondFactor(of: user, recording: []))
            let (factor, code) = (Self.factor(of: world.user), Self.digest())
            #expect(
                try await store.addSecondFactor(factor, recoveryCodes: [code], keeping: nil, recording: []) == .added)
            #expect(try await store.resetSecondFactor(of: user, recording: []))
            #expect(try await store.secondFactor(of: user) == .none)
            #expect(
                try await store.addSecondFactor(factor, recoveryCodes: [code], keeping: nil, recording: []) == .added)
            _ = try await world.beginRemoval()
            #expect(try await store.secondFactor(of: user) == .none)
            #expect(try await !store.hasRecoveryCode(code, of: user))
            #expect(try await store.secondFactorKeys().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `secrets of a former server key are found, and replaced by the same ones`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, other) = (world.store, try await world.adding("bob"))
            let (old, new) = (Self.factor(of: world.user), Self.factor(of: other.user, sealedBy: "0b0b0b0b"))
            for factor in [old, new] {
                #expect(
                    try await store.addSecondFactor(factor, recoveryCodes: [], keeping: nil, recording: []) == .added)
            }
            #expect(try await store.secondFactorKeys() == ["0a0a0a0a": 1, "0b0b0b0b": 1])
            #expect(try await store.secondFactors(notSealedBy: "0b0b0b0b", after: nil, limit: 9) == [old])
            #expect(try await store.secondFactors(notSealedBy: "0b0b0b0b", after: old.userID, limit: 9).isEmpty)
            try await store.replaceSealedSecret(of: old, with: [4, 5], by: "0b0b0b0b")
            try await store.replaceSealedSecret(of: old, with: [6], by: "0c0c0c0c")
            guard case .active(let renewed, _) = try await store.secondFactor(of: world.user.id) else {
                Issue.record("the second factor is missing")
                return
            }
            #expect(renewed.sealedSecret == [4, 5] && renewed.keyName == "0b0b0b0b" && renewed.digest == old.digest)
            #expect(try await store.secondFactors(notSealedBy: "0b0b0b0b", after: nil, limit: 9).isEmpty)
        }
    }
}
