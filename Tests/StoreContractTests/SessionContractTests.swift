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
            #expect(try await world.store.beginSession(session, replacing: nil) == .begun)
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
            #expect(try await world.store.beginSession(former, replacing: nil) == .begun)
            #expect(try await world.store.beginSession(other, replacing: nil) == .begun)
            #expect(try await world.store.beginSession(new, replacing: former.digest) == .begun)
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
            #expect(try await world.store.beginSession(former, replacing: nil) == .begun)
            let disabled = try Person.named("gone", disabledAt: World.now)
            #expect(try await world.store.addPerson(disabled) == .added)
            for person in [disabled, try Person.named("unknown")] {
                let session = Session.example(of: person)
                #expect(try await world.store.beginSession(session, replacing: former.digest) == .personGone)
                #expect(try await world.store.session(session.digest) == nil)
            }
            #expect(try await world.store.session(former.digest) != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a browser that is seen moves the time forward only`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let session = Session.example(of: world.person)
            #expect(try await world.store.beginSession(session, replacing: nil) == .begun)
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
            #expect(try await world.store.beginSession(session, replacing: nil) == .begun)
            #expect(try await world.store.endSession(session.digest))
            #expect(try await !world.store.endSession(session.digest))
            try await world.store.touchSession(session.digest, at: World.now.addingTimeInterval(60))
            #expect(try await world.store.session(session.digest) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a code is never found as a session, nor a session as a code`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let token = SessionToken()
            let code = try #require(AuthorizationCode(token.exposed))
            try await world.approve(world.grant(), code: code)
            #expect(try await world.store.session(ArtefactDigest(of: token)) == nil)
            #expect(try await !world.store.endSession(ArtefactDigest(of: token)))
            #expect(try await world.store.code(ArtefactDigest(of: code)) != nil)

            let other = SessionToken()
            let session = Session.example(of: world.person, token: other)
            #expect(try await world.store.beginSession(session, replacing: nil) == .begun)
            let asCode = ArtefactDigest(of: try #require(AuthorizationCode(other.exposed)))
            #expect(try await world.store.code(asCode) == nil)
            #expect(try await world.store.consumeCode(asCode, at: World.now) == .gone)
        }
    }
}
