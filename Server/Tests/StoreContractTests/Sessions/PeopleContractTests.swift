import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: users")
struct PeopleContractTests {
    @Test(arguments: StoreKind.allCases)
    func `a user is found by identifier, user name and email address`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let person = try Person.named("Ada", email: "Ada@Example.com")
            #expect(try await store.addPerson(person) == .added)
            #expect(try await store.person(person.id) == person)
            #expect(try await store.person(named: try #require(Username("ADA"))) == person)
            #expect(try await store.person(withEmail: try #require(EmailAddress("ADA@example.COM"))) == person)
            #expect(try await store.person(person.id)?.passwordHash == person.passwordHash)
            #expect(try await store.person(PersonIdentifier()) == nil)
            #expect(try await store.person(named: try #require(Username("eve"))) == nil)
            #expect(try await store.person(withEmail: try #require(EmailAddress("eve@example.com"))) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `user names and email addresses are unique whatever their case`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addPerson(.named("ada", email: "ada@example.com")) == .added)
            #expect(try await store.addPerson(.named("ADA")) == .usernameTaken)
            #expect(try await store.addPerson(.named("bob", email: "ADA@EXAMPLE.COM")) == .emailTaken)
            #expect(try await store.person(named: try #require(Username("bob"))) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a user is disabled by identifier, and the sessions end`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, person) = (world.store, world.person)
            #expect(try await store.personID(named: person.username) == person.id)
            #expect(try await store.personID(named: try #require(Username("eve"))) == nil)
            let event = AuditEvent(at: World.now, .account, personID: person.id, detail: "disabled")
            #expect(try await store.disablePerson(person.id, at: World.now + 1, recording: [event]))
            var disabled = person
            (disabled.disabledAt, disabled.changedAt) = (World.now + 1, World.now + 1)
            #expect(try await store.person(person.id) == disabled)
            #expect(try await store.sessions(of: person.id).isEmpty)
            #expect(try await store.audit(AuditQuery(personID: person.id)).map(\.event) == [event])
            // The time at which the account was disabled stays.
            #expect(try await store.disablePerson(person.id, at: World.now + 2, recording: []))
            disabled.changedAt = World.now + 2
            #expect(try await store.person(person.id) == disabled)
            let unknown = PersonIdentifier()
            #expect(try await !store.disablePerson(unknown, at: World.now, recording: [event]))
            #expect(try await store.audit(AuditQuery()).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `any number of users have no email address`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addPerson(.named("ada")) == .added)
            #expect(try await store.addPerson(.named("bob")) == .added)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of a hundred concurrent attempts one creates the first administrator`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addPerson(.named("somebody")) == .added)
            #expect(try await !store.hasAdministrator())
            let counts = try await outcomes(of: 100) { number in
                try await store.addFirstAdministrator(.named("admin\(number)"))
            }
            #expect(counts == [.added: 1, .administratorExists: 99])
            #expect(try await store.hasAdministrator())
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `there is one first administrator, with a user name that is not taken`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addPerson(.named("ada", email: "ada@example.com")) == .added)
            #expect(try await store.addFirstAdministrator(.named("ada")) == .usernameTaken)
            #expect(try await store.addFirstAdministrator(.named("bob", email: "ada@example.com")) == .emailTaken)
            #expect(try await !store.hasAdministrator())
            let administrator = try Person.named("carol")
            #expect(try await store.addFirstAdministrator(administrator) == .added)
            #expect(try await store.person(administrator.id)?.isAdministrator == true)
            #expect(try await store.addFirstAdministrator(.named("dave")) == .administratorExists)
        }
    }

    // A password change ends every other session.
    @Test(arguments: StoreKind.allCases)
    func `a changed password ends the other sessions and the pending codes`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let bobs = try await world.adding("bob")
            let (bob, foreign) = (bobs.person, bobs.session)
            let here = Session.example(of: world.person)
            try await world.begin(here)
            let (used, waiting) = (try await world.approve(world.grant()), try await world.approve(world.grant()))
            #expect(try await world.store.consumeCode(used.digest, beginning: nil, at: World.now) == .consumed)
            let foreignCode = try await bobs.approve(bobs.grant())

            #expect(try await world.changePassword(from: .example, to: .other, keeping: here) == .changed)
            #expect(try await world.store.person(world.person.id)?.passwordHash == .other)
            #expect(try await world.store.sessions(of: world.person.id) == [here])
            #expect(try await world.store.consumeCode(waiting.digest, beginning: nil, at: World.now) == .gone)
            #expect(try await world.store.code(used.digest)?.code.failedRedemptions == 0)

            #expect(try await world.store.person(bob.id) == bob)
            #expect(try await world.store.sessions(of: bob.id) == [foreign])
            #expect(try await world.store.consumeCode(foreignCode.digest, beginning: nil, at: World.now) == .consumed)
            // A session of another user is not kept.
            #expect(try await world.changePassword(from: .other, to: .example, keeping: foreign) == .changed)
            #expect(try await world.store.sessions(of: world.person.id) == [])
        }
    }

    // A password change requires the current password.
    @Test(arguments: StoreKind.allCases)
    func `a password is changed only from the one that was checked`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let code = try await world.approve(world.grant())
            #expect(try await world.changePassword(from: .other, to: .other, keeping: nil) == .changedMeanwhile)
            #expect(try await world.store.person(world.person.id) == world.person)
            #expect(try await world.store.sessions(of: world.person.id) == [world.session])
            #expect(try await world.store.consumeCode(code.digest, beginning: nil, at: World.now) == .consumed)
            let counts = try await outcomes(of: 100) { number in
                try await world.changePassword(from: .example, to: PasswordHash(encoded: "$\(number)"), keeping: nil)
            }
            #expect(counts == [.changed: 1, .changedMeanwhile: 99])
        }
    }

    // The password stays the same, so nothing ends.
    @Test(arguments: StoreKind.allCases)
    func `a hash is replaced only by one of the same password, and nothing ends`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let code = try await world.approve(world.grant())
            let (store, id) = (world.store, world.person.id)
            #expect(try await !store.replacePasswordHash(of: id, from: .other, to: .other))
            #expect(try await store.person(id) == world.person)
            #expect(try await store.replacePasswordHash(of: id, from: .example, to: .other))
            #expect(try await !store.replacePasswordHash(of: id, from: .example, to: .example))
            var expected = world.person
            expected.passwordHash = .other
            #expect(try await store.person(id) == expected)
            #expect(try await store.sessions(of: id) == [world.session])
            #expect(try await store.consumeCode(code.digest, beginning: nil, at: World.now) == .consumed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unknown or disabled user gets no new password`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let disabled = try Person.named("gone", disabledAt: World.now)
            #expect(try await world.store.addPerson(disabled) == .added)
            for person in [disabled, try Person.named("unknown")] {
                let gone = World(world.store, person: person, client: world.client, session: .lasting(of: person))
                #expect(try await gone.changePassword(from: .example, to: .other, keeping: nil) == .personNotActive)
            }
            #expect(try await world.store.person(disabled.id) == disabled)
        }
    }
}

extension World {
    fileprivate func changePassword(
        from former: PasswordHash,
        to new: PasswordHash,
        keeping session: Session?
    ) async throws -> ChangePasswordOutcome {
        try await store.changePassword(of: person.id, from: former, to: new, keeping: session?.digest, at: World.now)
    }
}
