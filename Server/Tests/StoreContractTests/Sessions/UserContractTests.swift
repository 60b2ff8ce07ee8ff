import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: users")
struct UserContractTests {
    @Test(arguments: StoreKind.allCases)
    func `a user is found by identifier, user name and email address`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let user = try User.named("Ada", email: "Ada@Example.com")
            #expect(try await store.addUser(user) == .added)
            #expect(try await store.user(user.id) == user)
            #expect(try await store.user(named: try #require(Username("ADA"))) == user)
            #expect(try await store.user(withEmail: try #require(EmailAddress("ADA@example.COM"))) == user)
            #expect(try await store.user(user.id)?.passwordHash == user.passwordHash)
            #expect(try await store.user(UserIdentifier()) == nil)
            #expect(try await store.user(named: try #require(Username("eve"))) == nil)
            #expect(try await store.user(withEmail: try #require(EmailAddress("eve@example.com"))) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the user names of any number of users are read at once`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let users = try (0..<203).map { try User.named("user\($0)") }
            for user in users { #expect(try await store.addUser(user) == .added) }
            let unknown = UserIdentifier()
            let names = try await store.usernames(of: Set(users.map(\.id) + [unknown]))
            #expect(names.count == 203 && names[unknown] == nil)
            #expect(users.allSatisfy { names[$0.id] == $0.username.rawValue })
            #expect(try await store.usernames(of: [users[7].id]) == [users[7].id: "user7"])
            #expect(try await store.usernames(of: []).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `user names and email addresses are unique whatever their case`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addUser(.named("ada", email: "ada@example.com")) == .added)
            #expect(try await store.addUser(.named("ADA")) == .usernameTaken)
            #expect(try await store.addUser(.named("bob", email: "ADA@EXAMPLE.COM")) == .emailTaken)
            #expect(try await store.user(named: try #require(Username("bob"))) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a user is disabled by identifier, and the sessions end`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user)
            #expect(try await store.userID(named: user.username) == user.id)
            #expect(try await store.userID(named: try #require(Username("eve"))) == nil)
            let event = AuditEvent(at: World.now, .account, userID: user.id, detail: "disabled")
            #expect(try await store.disableUser(user.id, at: World.now + 1, recording: [event]) == .changed)
            var disabled = user
            (disabled.disabledAt, disabled.changedAt) = (World.now + 1, World.now + 1)
            #expect(try await store.user(user.id) == disabled)
            #expect(try await store.sessions(of: user.id).isEmpty)
            #expect(try await store.audit(AuditQuery(userID: user.id)).map(\.event) == [event])
            // A change of nothing is none, and has no event.
            #expect(try await store.disableUser(user.id, at: World.now + 2, recording: [event]) == .unchanged)
            #expect(
                try await store.setRole(nil, of: user.id, from: nil, at: World.now + 2, recording: [event])
                    == .unchanged)
            #expect(try await store.user(user.id) == disabled)
            let unknown = UserIdentifier()
            #expect(try await store.disableUser(unknown, at: World.now, recording: [event]) == .notFound)
            #expect(try await store.audit(AuditQuery()).count == 1)
            #expect(try await store.enableUser(user.id, at: World.now + 3, recording: []) == .changed)
            #expect(try await store.enableUser(user.id, at: World.now + 4, recording: [event]) == .unchanged)
            #expect(try await store.user(user.id)?.changedAt == World.now + 3)
            #expect(try await store.audit(AuditQuery()).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `any number of users have no email address`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addUser(.named("ada")) == .added)
            #expect(try await store.addUser(.named("bob")) == .added)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a hundred concurrent attempts one creates the first administrator`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addUser(.named("somebody")) == .added)
            #expect(try await !store.hasOwner())
            let counts = try await outcomes(of: 100) { number in
                try await store.addFirstOwner(.named("admin\(number)"))
            }
            #expect(counts == [.added: 1, .ownerExists: 99])
            #expect(try await store.hasOwner())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `there is one first administrator, with a user name that is not taken`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addUser(.named("ada", email: "ada@example.com")) == .added)
            #expect(try await store.addFirstOwner(.named("ada")) == .usernameTaken)
            #expect(try await store.addFirstOwner(.named("bob", email: "ada@example.com")) == .emailTaken)
            #expect(try await !store.hasOwner())
            let administrator = try User.named("carol")
            #expect(try await store.addFirstOwner(administrator) == .added)
            #expect(try await store.user(administrator.id)?.role == .owner)
            #expect(try await store.addFirstOwner(.named("dave")) == .ownerExists)
        }
    }

    // A password change ends every other session.
    @Test(arguments: StoreKind.allCases)
    func `a changed password ends the other sessions and the pending codes`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let bobs = try await world.adding("bob")
            let (bob, foreign) = (bobs.user, bobs.session)
            let here = Session.example(of: world.user)
            try await world.begin(here)
            let (used, waiting) = (try await world.approve(world.grant()), try await world.approve(world.grant()))
            #expect(try await world.store.consumeCode(used.digest, beginning: nil, at: World.now) == .consumed)
            let foreignCode = try await bobs.approve(bobs.grant())

            #expect(try await world.changePassword(from: .example, to: .other, keeping: here) == .changed)
            #expect(try await world.store.user(world.user.id)?.passwordHash == .other)
            #expect(try await world.store.sessions(of: world.user.id) == [here])
            #expect(try await world.store.consumeCode(waiting.digest, beginning: nil, at: World.now) == .gone)
            #expect(try await world.store.code(used.digest)?.code.failedRedemptions == 0)

            #expect(try await world.store.user(bob.id) == bob)
            #expect(try await world.store.sessions(of: bob.id) == [foreign])
            #expect(try await world.store.consumeCode(foreignCode.digest, beginning: nil, at: World.now) == .consumed)
            // A session of another user is not kept.
            #expect(try await world.changePassword(from: .other, to: .example, keeping: foreign) == .changed)
            #expect(try await world.store.sessions(of: world.user.id) == [])
        }
    }

    // A password change requires the current password.
    @Test(arguments: StoreKind.allCases)
    func `a password is changed only from the one that was checked`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let code = try await world.approve(world.grant())
            #expect(try await world.changePassword(from: .other, to: .other, keeping: nil) == .changedMeanwhile)
            #expect(try await world.store.user(world.user.id) == world.user)
            #expect(try await world.store.sessions(of: world.user.id) == [world.session])
            #expect(try await world.store.consumeCode(code.digest, beginning: nil, at: World.now) == .consumed)
            let counts = try await outcomes(of: 100) { number in
                try await world.changePassword(from: .example, to: PasswordHash(encoded: "$\(number)"), keeping: nil)
            }
            #expect(counts == [.changed: 1, .changedMeanwhile: 99])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a removed password begins and approves nothing more, and another can be added`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (store, user) = (world.store, world.user)
            let (here, continued) = (Session.example(of: user), Session.example(of: user))
            try await world.begin(here)
            let waiting = try await world.approve(world.grant())
            for number: UInt8 in 1...2 {
                #expect(try await world.changePassword(from: .example, to: nil, keeping: here) == .neededAsWayIn)
                #expect(try await store.addPasskey(.example(number, of: user), recording: []) == .added)
            }
            #expect(try await store.user(user.id) == user)
            #expect(try await world.changePassword(from: .example, to: nil, keeping: here) == .changed)
            var former = user
            former.passwordHash = nil
            #expect(try await store.user(user.id) == former)
            #expect(try await store.user(named: user.username) == former)
            #expect(try await store.sessions(of: user.id) == [here])
            #expect(try await store.consumeCode(waiting.digest, beginning: nil, at: World.now) == .gone)
            for proof in [
                SignInProof.example, .password(PasswordHash(encoded: "")), .continued(.example, [.password]),
                .twoFactors(.example, .remembered(ArtefactDigest(of: SessionToken()))),
            ] {
                let outcome = try await store.beginSession(continued, proving: proof, replacing: nil)
                #expect(outcome == .proofOutdated)
            }
            #expect(try await world.changePassword(from: .example, to: .other, keeping: nil) == .changedMeanwhile)
            #expect(try await !store.replacePasswordHash(of: user.id, from: .example, to: .other))

            #expect(
                try await store.beginSession(continued, proving: .continued(nil, [.passkey]), replacing: nil)
                    == .begun(continued.id))
            #expect(try await world.changePassword(from: nil, to: .other, keeping: continued) == .changed)
            #expect(try await store.user(user.id)?.passwordHash == .other)
            #expect(try await store.sessions(of: user.id).map(\.digest) == [continued.digest])
            #expect(try await world.changePassword(from: nil, to: .example, keeping: nil) == .changedMeanwhile)
            let late = try await store.beginSession(
                Session.example(of: user), proving: .continued(nil, [.passkey]), replacing: nil)
            #expect(late == .proofOutdated)
        }
    }

    // The password stays the same, so nothing ends.
    @Test(arguments: StoreKind.allCases)
    func `a hash is replaced only by one of the same password, and nothing ends`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let code = try await world.approve(world.grant())
            let (store, id) = (world.store, world.user.id)
            #expect(try await !store.replacePasswordHash(of: id, from: .other, to: .other))
            #expect(try await store.user(id) == world.user)
            #expect(try await store.replacePasswordHash(of: id, from: .example, to: .other))
            #expect(try await !store.replacePasswordHash(of: id, from: .example, to: .example))
            var expected = world.user
            expected.passwordHash = .other
            #expect(try await store.user(id) == expected)
            #expect(try await store.sessions(of: id) == [world.session])
            #expect(try await store.consumeCode(code.digest, beginning: nil, at: World.now) == .consumed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unknown or disabled user gets no new password`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let disabled = try User.named("gone", disabledAt: World.now)
            #expect(try await world.store.addUser(disabled) == .added)
            for user in [disabled, try User.named("unknown")] {
                let gone = World(world.store, user: user, client: world.client, session: .lasting(of: user))
                #expect(try await gone.changePassword(from: .example, to: .other, keeping: nil) == .userNotActive)
            }
            #expect(try await world.store.user(disabled.id) == disabled)
        }
    }
}

extension World {
    fileprivate func changePassword(
        from former: PasswordHash?,
        to new: PasswordHash?,
        keeping session: Session?
    ) async throws -> ChangePasswordOutcome {
        try await store.changePassword(of: user.id, from: former, to: new, keeping: session?.digest, at: World.now)
    }
}
