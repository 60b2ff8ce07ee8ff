import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: sessions")
struct SessionContractTests {
    @Test(arguments: StoreKind.allCases)
    func `a session is read back with its user, its times exact to the millisecond`(_ kind: StoreKind) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let session = Session.example(of: world.user)
            #expect(
                try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
            let facts = try await world.store.session(session.digest)
            #expect(facts == SessionFacts(session: session, user: world.user))
        }
    }

    // The same user signs in again, with the other choice.
    @Test(arguments: StoreKind.allCases, [true, false])
    func `a session keeps the choice of its own sign-in to stay signed in`(
        _ kind: StoreKind, isPersistent: Bool
    ) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let first = Session.example(of: world.user, isPersistent: isPersistent)
            let second = Session.example(of: world.user, isPersistent: !isPersistent)
            #expect(try await world.store.beginSession(first, proving: .example, replacing: nil) == .begun(first.id))
            #expect(try await world.store.session(first.digest)?.session.isPersistent == isPersistent)
            #expect(
                try await world.store.beginSession(second, proving: .example, replacing: first.digest)
                    == .begun(first.id))
            #expect(try await world.store.session(second.digest)?.session.isPersistent == !isPersistent)
            #expect(try await world.store.sessions(of: world.user.id).map(\.isPersistent) == [!isPersistent])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a new session replaces the given one and no other`(_ kind: StoreKind) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let (former, other, new) = (
                Session.example(of: world.user), Session.example(of: world.user), Session.example(of: world.user)
            )
            #expect(try await world.store.beginSession(former, proving: .example, replacing: nil) == .begun(former.id))
            #expect(try await world.store.beginSession(other, proving: .example, replacing: nil) == .begun(other.id))
            #expect(
                try await world.store.beginSession(new, proving: .example, replacing: former.digest)
                    == .begun(former.id))
            #expect(try await world.store.session(former.digest) == nil)
            #expect(try await world.store.session(other.digest) != nil)
            #expect(try await world.store.session(new.digest)?.session.id == former.id)
        }
    }

    // Signing in again revokes nothing; a sign-in by another user revokes the dependents of the former
    // session.
    @Test(arguments: StoreKind.allCases, [true, false])
    func `a session that continues under another cookie keeps its grants`(
        _ kind: StoreKind, isSameUser: Bool
    ) async throws {
        try await kind.withStore { store in
            let held = try await Held(in: store)
            var next = held.user
            if !isSameUser {
                next = try User.named("bob")
                #expect(try await store.addUser(next) == .added)
            }
            let new = Session.example(of: next)
            let outcome = try await store.beginSession(new, proving: .example, replacing: held.session.digest)
            #expect(outcome == .begun(isSameUser ? held.session.id : new.id))
            #expect(try await store.session(held.session.digest) == nil)
            #expect(try await held.holding() == (isSameUser ? held.all : held.beyondBrowsers))
            #expect(try await held.told() == (isSameUser ? [] : [held.session.id]))
            if isSameUser {
                #expect(try await store.endSession(new.digest, at: World.now + 2))
                #expect(try await held.holding() == held.beyondBrowsers)
                #expect(try await held.told() == [held.session.id])
            }
        }
    }

    // Signing out elsewhere affects every client type, and the current session continues.
    @Test(arguments: StoreKind.allCases, [true, false])
    func `signing out everywhere else, or changing the password, ends all other sessions and grants`(
        _ kind: StoreKind, byPassword: Bool
    ) async throws {
        try await kind.withStore { store in
            let held = try await Held(in: store)
            let here = Session.example(of: held.user)
            #expect(try await store.beginSession(here, proving: .example, replacing: nil) == .begun(here.id))
            let kept = try await held.give(.native, "app-here", in: here)
            if byPassword {
                let outcome = try await store.changePassword(
                    of: held.user.id, from: .example, to: .other, keeping: here.digest, at: World.now + 1)
                #expect(outcome == .changed)
            } else {
                #expect(
                    try await store.signOutEverywhere(held.user.id, except: here.digest, at: World.now + 1) == 1)
            }
            #expect(try await held.holding() == [])
            #expect(try await held.told() == [held.session.id])
            #expect(try await store.grantFacts(kept.id)?.hold == true)
            #expect(try await store.sessions(of: held.user.id) == [here])
            #expect(try await store.signOutEverywhere(held.user.id, except: nil, at: World.now + 2) == 1)
            #expect(try await store.grantFacts(kept.id)?.hold == false)
        }
    }

    // A sign-out after a session has expired still revokes its single-page grants, and a live session
    // continues.
    @Test(arguments: StoreKind.allCases)
    func `the grants of a session end with it`(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let held = try await Held(in: store)
            try await store.revokeDependents(
                ofSession: held.session.id, notSeenSince: held.session.lastSeenAt - 1, at: World.now + 1)
            #expect(try await held.holding() == held.all)
            try await store.revokeDependents(
                ofSession: held.session.id, notSeenSince: held.session.lastSeenAt, at: World.now + 1)
            #expect(try await held.holding() == held.beyondBrowsers)
            #expect(try await held.told() == [held.session.id])
            #expect(try await store.session(held.session.digest) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a session beyond the limit ends the least recently used one, with its grants`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let held = try await Held(in: store)
            let bob = try User.named("bob")
            #expect(try await store.addUser(bob) == .added)
            let foreign = Session.example(of: bob, lastSeenAt: World.now - 100)
            #expect(try await store.beginSession(foreign, proving: .example, replacing: nil) == .begun(foreign.id))
            var newest: Session?
            for number in 1...Session.limitPerUser {
                #expect(try await held.holding() == held.all)
                let session = Session.example(of: held.user, lastSeenAt: World.now + Double(number))
                #expect(try await store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
                newest = session
            }
            let sessions = try await store.sessions(of: held.user.id)
            #expect(sessions.count == Session.limitPerUser)
            #expect(sessions.first == newest)
            #expect(try await store.session(held.session.digest) == nil)
            #expect(try await held.holding() == held.beyondBrowsers)
            #expect(try await held.told() == [held.session.id])
            #expect(try await store.sessions(of: bob.id) == [foreign])
        }
    }

    // OpenID Connect Back-Channel Logout §2.5
    @Test(arguments: StoreKind.allCases)
    func `the end of a session is notified once, however often and concurrently it is requested`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store in
            let held = try await Held(in: store)
            #expect(try await store.endSession(held.session.digest, at: World.now + 1))
            for _ in 0..<3 {
                _ = try await outcomes(of: 20) { _ in
                    try await store.revokeDependents(
                        ofSession: held.session.id, notSeenSince: held.session.lastSeenAt, at: World.now + 2)
                    return true
                }
                let due = try await store.takeLogoutDeliveries(dueAt: World.now + 9, until: World.now + 9, limit: 99)
                #expect(due.count <= 1)
                // A delivered notification is not queued again.
                for delivery in due { try await store.settleLogoutDelivery(delivery, .done) }
            }
            #expect(try await held.told() == [])
            #expect(try await held.holding() == held.beyondBrowsers)
        }
    }

    /// A user with a session that has a grant for one client of each type.
    private struct Held {
        let store: any AuthorizationServerStore
        let user: User
        let session: Session
        private(set) var grants: [ClientType: Grant] = [:]

        init(in store: any AuthorizationServerStore) async throws {
            self.store = store
            user = try User.named("ada")
            session = Session.example(of: user)
            #expect(try await store.addUser(user) == .added)
            #expect(try await store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
            for type in [ClientType.singlePage, .native, .web] {
                grants[type] = try await give(type, "app-\(type.rawValue)", in: session)
            }
        }

        let all: Set<ClientType> = [.singlePage, .native, .web]
        let beyondBrowsers: Set<ClientType> = [.native, .web]

        func give(_ type: ClientType, _ name: String, in session: Session) async throws -> Grant {
            let former = try RegisteredClient.named(name)
            var client = RegisteredClient(
                id: former.id, type: type, presentation: former.presentation, redirectURIs: former.redirectURIs,
                scope: former.scope, policy: former.policy, createdAt: former.createdAt)
            if type == .web {
                client.backchannelLogoutURI = try AbsoluteURI(parsing: "https://app.example.com/logout")
            }
            #expect(try await store.addClient(client) == .added)
            let grant = Grant(
                userID: user.id, clientID: client.id, scope: Scope([.openID]), sessionID: session.id,
                createdAt: World.now, lastUsedAt: World.now)
            try await World(store, user: user, client: client, session: session).approve(grant)
            return grant
        }

        /// Returns the client types whose grants of the session are still in force.
        func holding() async throws -> Set<ClientType> {
            var holding: Set<ClientType> = []
            for (type, grant) in grants where try await store.grantFacts(grant.id)?.hold == true {
                holding.insert(type)
            }
            return holding
        }

        /// Returns the sessions whose end is queued for notification.
        func told() async throws -> [SessionIdentifier] {
            // After the beginning of every session of the tests.
            let end = World.now + TimeInterval(Session.limitPerUser)
            return try await store.takeLogoutDeliveries(dueAt: end, until: end, limit: 10).map(\.sessionID)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unknown or disabled user starts no session, and the previous one stays`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let former = Session.example(of: world.user)
            #expect(try await world.store.beginSession(former, proving: .example, replacing: nil) == .begun(former.id))
            let disabled = try User.named("gone", disabledAt: World.now)
            #expect(try await world.store.addUser(disabled) == .added)
            for user in [disabled, try User.named("unknown")] {
                let session = Session.example(of: user)
                #expect(
                    try await world.store.beginSession(session, proving: .example, replacing: former.digest)
                        == .userNotActive)
                #expect(try await world.store.session(session.digest) == nil)
            }
            #expect(try await world.store.session(former.digest) != nil)
        }
    }

    // A session is refused if the password was changed after it was verified.
    @Test(arguments: StoreKind.allCases)
    func `a session starts only for the stored password, and otherwise the previous one stays`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let (former, new) = (Session.example(of: world.user), Session.example(of: world.user))
            #expect(try await world.store.beginSession(former, proving: .example, replacing: nil) == .begun(former.id))
            let refused = try await world.store.beginSession(new, proving: .other, replacing: former.digest)
            #expect(refused == .proofOutdated)
            #expect(try await world.store.sessions(of: world.user.id) == [former])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the last use of a session only moves forward`(_ kind: StoreKind) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let session = Session.example(of: world.user)
            #expect(
                try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
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
        try await kind.withWorld(signedIn: false) { world async throws in
            let session = Session.example(of: world.user)
            #expect(
                try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
            #expect(try await world.store.endSession(session.digest, at: World.now))
            #expect(try await !world.store.endSession(session.digest, at: World.now))
            try await world.store.touchSession(session.digest, at: World.now.addingTimeInterval(60))
            #expect(try await world.store.session(session.digest) == nil)
        }
    }

    // A user sees all their sessions.
    @Test(arguments: StoreKind.allCases)
    func `the sessions of a user are listed, most recently used first`(_ kind: StoreKind) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let bob = try User.named("bob")
            #expect(try await world.store.addUser(bob) == .added)
            let own = [30.0, 20, 10].map {
                Session.example(of: world.user, lastSeenAt: World.now.addingTimeInterval($0))
            }
            let foreign = Session.example(of: bob)
            for session in [own[1], foreign, own[0], own[2]] {
                #expect(
                    try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id)
                )
            }
            #expect(try await world.store.sessions(of: world.user.id) == own)
            try await world.store.touchSession(own[2].digest, at: World.now.addingTimeInterval(40))
            #expect(
                try await world.store.sessions(of: world.user.id).map(\.digest)
                    == [own[2].digest, own[0].digest, own[1].digest])
            #expect(try await world.store.sessions(of: UserIdentifier()) == [])
        }
    }

    // A user can end their own sessions only.
    @Test(arguments: StoreKind.allCases)
    func `a user ends their own session and no other`(_ kind: StoreKind) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let bob = try User.named("bob")
            #expect(try await world.store.addUser(bob) == .added)
            let (own, foreign) = (Session.example(of: world.user), Session.example(of: bob))
            for session in [own, foreign] {
                #expect(
                    try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id)
                )
            }
            #expect(try await !world.store.endSession(foreign.digest, of: world.user.id, at: World.now))
            #expect(try await world.store.session(foreign.digest) != nil)
            #expect(try await world.store.endSession(own.digest, of: world.user.id, at: World.now))
            #expect(try await !world.store.endSession(own.digest, of: world.user.id, at: World.now))
            #expect(try await world.store.session(own.digest) == nil)
        }
    }

    // A user ends all sessions, or all except one.
    @Test(arguments: StoreKind.allCases)
    func `a user ends every session except one, or every one`(_ kind: StoreKind) async throws {
        try await kind.withWorld(signedIn: false) { world async throws in
            let bob = try User.named("bob")
            #expect(try await world.store.addUser(bob) == .added)
            let (own, foreign) = ((0..<4).map { _ in Session.example(of: world.user) }, Session.example(of: bob))
            for session in own + [foreign] {
                #expect(
                    try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id)
                )
            }
            #expect(try await world.store.signOutEverywhere(world.user.id, except: own[2].digest, at: World.now) == 3)
            #expect(try await world.store.sessions(of: world.user.id) == [own[2]])
            #expect(try await world.store.signOutEverywhere(world.user.id, except: nil, at: World.now) == 1)
            #expect(try await world.store.signOutEverywhere(world.user.id, except: nil, at: World.now) == 0)
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
            let session = Session.example(of: world.user, token: other)
            #expect(
                try await world.store.beginSession(session, proving: .example, replacing: nil) == .begun(session.id))
            let asCode = ArtefactDigest(of: try #require(AuthorizationCode(other.exposed)))
            #expect(try await world.store.code(asCode) == nil)
            #expect(try await world.store.consumeCode(asCode, beginning: nil, at: World.now) == .gone)
        }
    }
}
