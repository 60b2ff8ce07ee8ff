import CounterfoilProtocol
import CounterfoilServer
import Foundation
import Testing

@Suite("The contract: sessions")
struct SessionContractTests {
    @Test(arguments: StoreKind.allCases)
    func `a session comes back with its person, its times exact to the millisecond`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let session = Session.example(of: world.person)
            #expect(try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun)
            let facts = try await world.store.session(session.digest)
            #expect(facts == SessionFacts(session: session, person: world.person))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a new session ends the one that it replaces and no other`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (former, other, new) = (
                Session.example(of: world.person), Session.example(of: world.person), Session.example(of: world.person)
            )
            #expect(try await world.store.beginSession(former, proving: .example, replacing: nil) == .begun)
            #expect(try await world.store.beginSession(other, proving: .example, replacing: nil) == .begun)
            #expect(try await world.store.beginSession(new, proving: .example, replacing: former.digest) == .begun)
            #expect(try await world.store.session(former.digest) == nil)
            #expect(try await world.store.session(other.digest) != nil)
            #expect(try await world.store.session(new.digest) != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `nobody who is unknown or switched off begins a session, and the former one stays`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let former = Session.example(of: world.person)
            #expect(try await world.store.beginSession(former, proving: .example, replacing: nil) == .begun)
            let disabled = try Person.named("gone", disabledAt: World.now)
            #expect(try await world.store.addPerson(disabled) == .added)
            for person in [disabled, try Person.named("unknown")] {
                let session = Session.example(of: person)
                #expect(
                    try await world.store.beginSession(session, proving: .example, replacing: former.digest)
                        == .personGone)
                #expect(try await world.store.session(session.digest) == nil)
            }
            #expect(try await world.store.session(former.digest) != nil)
        }
    }

    // R330: who proved a password that was changed meanwhile is not let in.
    @Test(arguments: StoreKind.allCases)
    func `a session begins only for the password that is stored, and the former one stays`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (former, new) = (Session.example(of: world.person), Session.example(of: world.person))
            #expect(try await world.store.beginSession(former, proving: .example, replacing: nil) == .begun)
            let refused = try await world.store.beginSession(new, proving: .other, replacing: former.digest)
            #expect(refused == .passwordChanged)
            #expect(try await world.store.sessions(of: world.person.id) == [former])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a browser that is seen moves the time forward only`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let session = Session.example(of: world.person)
            #expect(try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun)
            let later = World.now.addingTimeInterval(60)
            try await world.store.touchSession(session.digest, at: later)
            #expect(try await world.store.session(session.digest)?.session.lastSeenAt == later)
            try await world.store.touchSession(session.digest, at: World.now)
            var expected = session
            expected.lastSeenAt = later
            #expect(try await world.store.session(session.digest)?.session == expected)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a session that has ended stays ended`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let session = Session.example(of: world.person)
            #expect(try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun)
            #expect(try await world.store.endSession(session.digest, at: World.now))
            #expect(try await !world.store.endSession(session.digest, at: World.now))
            try await world.store.touchSession(session.digest, at: World.now.addingTimeInterval(60))
            #expect(try await world.store.session(session.digest) == nil)
        }
    }

    // R334: a person sees where they are signed in.
    @Test(arguments: StoreKind.allCases)
    func `the sessions of a person are listed, last seen first`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let bob = try Person.named("bob")
            #expect(try await world.store.addPerson(bob) == .added)
            let own = [30.0, 20, 10].map {
                Session.example(of: world.person, lastSeenAt: World.now.addingTimeInterval($0))
            }
            let foreign = Session.example(of: bob)
            for session in [own[1], foreign, own[0], own[2]] {
                #expect(try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun)
            }
            #expect(try await world.store.sessions(of: world.person.id) == own)
            try await world.store.touchSession(own[2].digest, at: World.now.addingTimeInterval(40))
            #expect(
                try await world.store.sessions(of: world.person.id).map(\.digest)
                    == [own[2].digest, own[0].digest, own[1].digest])
            #expect(try await world.store.sessions(of: PersonIdentifier()) == [])
        }
    }

    // R334: a person ends a session, and nobody ends another's.
    @Test(arguments: StoreKind.allCases)
    func `a person ends their own session and no other`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let bob = try Person.named("bob")
            #expect(try await world.store.addPerson(bob) == .added)
            let (own, foreign) = (Session.example(of: world.person), Session.example(of: bob))
            for session in [own, foreign] {
                #expect(try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun)
            }
            #expect(try await !world.store.endSession(foreign.digest, of: world.person.id, at: World.now))
            #expect(try await world.store.session(foreign.digest) != nil)
            #expect(try await world.store.endSession(own.digest, of: world.person.id, at: World.now))
            #expect(try await !world.store.endSession(own.digest, of: world.person.id, at: World.now))
            #expect(try await world.store.session(own.digest) == nil)
        }
    }

    // R334: a person ends all sessions, or all but this one.
    @Test(arguments: StoreKind.allCases)
    func `a person ends every session but one, or every one`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let bob = try Person.named("bob")
            #expect(try await world.store.addPerson(bob) == .added)
            let (own, foreign) = ((0..<4).map { _ in Session.example(of: world.person) }, Session.example(of: bob))
            for session in own + [foreign] {
                #expect(try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun)
            }
            #expect(try await world.store.endSessions(of: world.person.id, except: own[2].digest, at: World.now) == 3)
            #expect(try await world.store.sessions(of: world.person.id) == [own[2]])
            #expect(try await world.store.endSessions(of: world.person.id, except: nil, at: World.now) == 1)
            #expect(try await world.store.endSessions(of: world.person.id, except: nil, at: World.now) == 0)
            #expect(try await world.store.sessions(of: bob.id) == [foreign])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a code is never found as a session, nor a session as a code`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let token = SessionToken()
            let code = try #require(AuthorizationCode(token.exposed))
            try await world.approve(world.grant(), code: code)
            #expect(try await world.store.session(ArtefactDigest(of: token)) == nil)
            #expect(try await !world.store.endSession(ArtefactDigest(of: token), at: World.now))
            #expect(try await world.store.code(ArtefactDigest(of: code)) != nil)

            let other = SessionToken()
            let session = Session.example(of: world.person, token: other)
            #expect(try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun)
            let asCode = ArtefactDigest(of: try #require(AuthorizationCode(other.exposed)))
            #expect(try await world.store.code(asCode) == nil)
            #expect(try await world.store.consumeCode(asCode, beginning: nil, at: World.now) == .gone)
        }
    }
}
