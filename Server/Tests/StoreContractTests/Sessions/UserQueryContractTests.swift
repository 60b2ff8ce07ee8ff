import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// The search for users, their roles, and the last owner.
@Suite("The contract: queries for users")
struct UserQueryContractTests {
    private static func user(
        _ name: String, email: String? = nil, displayName: String = "X", role: UserRole? = nil,
        disabledAt: Date? = nil
    ) throws -> User {
        User(
            username: try #require(Username(name)), email: email.flatMap { EmailAddress($0) },
            displayName: displayName, passwordHash: .example, role: role, createdAt: World.now,
            disabledAt: disabledAt)
    }

    private static func names(
        _ store: any AuthorizationServerStore, _ query: UserQuery
    ) async throws -> [String] {
        try await store.users(matching: query).users.map(\.user.username.rawValue)
    }

    private static func search(_ typed: String, in store: any AuthorizationServerStore) async throws -> [String] {
        let search: UserSearch = try #require(UserSearch(typed))
        return try await names(store, UserQuery(search: search))
    }

    @Test(arguments: StoreKind.allCases)
    func `a search finds the beginning of a user name, an email address or a display name`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store async throws in
            let people = [
                try Self.user("alice", email: "a.smith@example.com", displayName: "Zoë Ålesund"),
                try Self.user("alan", email: "turing@example.com", displayName: "Åsa"),
                try Self.user("bob", email: "alistair@example.com", displayName: "100% Bob"),
                try Self.user("carl_1", displayName: "ALI Baba"), try Self.user("carlx1", displayName: "1000 Bobs"),
            ]
            for user in people { #expect(try await store.addUser(user) == .added) }
            #expect(try await Self.search("AL", in: store) == ["alan", "alice", "bob", "carl_1"])
            #expect(try await Self.search("ali", in: store) == ["alice", "bob", "carl_1"])
            #expect(try await Self.search(" Alice ", in: store) == ["alice"])
            #expect(try await Self.search("A.SMITH@example.com", in: store) == ["alice"])
            #expect(try await Self.search("åsa", in: store) == ["alan"])
            // The letter A and a ring, as some keyboards type it.
            #expect(try await Self.search("A\u{30A}SA", in: store) == ["alan"])
            #expect(try await Self.search("zoë å", in: store) == ["alice"])
            #expect(try await Self.search("smith", in: store).isEmpty)
            // Wildcards stand for themselves.
            #expect(try await Self.search("carl_", in: store) == ["carl_1"])
            #expect(try await Self.search("100%", in: store) == ["bob"])
            for wildcard in ["%", "_", "*", "al%", "a_i", "'", "\\"] {
                #expect(try await Self.search(wildcard, in: store).isEmpty, "\(wildcard)")
            }
            let id = people[2].id.rawValue
            #expect(try await Self.search(id, in: store) == ["bob"])
            #expect(try await Self.search(String(id.dropLast()), in: store).isEmpty)
        }
    }

    @Test(arguments: ["", "  ", "\u{200B}", "a\0", "a\nb", String(repeating: "a", count: 1001)])
    func `a text that no search can have is refused`(typed: String) {
        #expect(UserSearch(typed) == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `filters hold at the same time, and follow each change`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            for user in [
                try Self.user("ann", role: .owner), try Self.user("ben", disabledAt: World.now),
                try Self.user("cat"), try Self.user("dan", role: .owner, disabledAt: World.now),
            ] { #expect(try await store.addUser(user) == .added) }
            func found(_ query: UserQuery) async throws -> [String] { try await Self.names(store, query) }
            #expect(try await found(UserQuery()) == ["ann", "ben", "cat", "dan"])
            #expect(try await found(UserQuery(state: .enabled)) == ["ann", "cat"])
            #expect(try await found(UserQuery(state: .disabled)) == ["ben", "dan"])
            #expect(try await found(UserQuery(role: .role(.owner))) == ["ann", "dan"])
            #expect(try await found(UserQuery(role: .noRole)) == ["ben", "cat"])
            #expect(try await found(UserQuery(state: .disabled, role: .role(.owner))) == ["dan"])
            #expect(
                try await found(UserQuery(search: UserSearch("d"), state: .disabled, role: .role(.owner))) == ["dan"])
            #expect(try await found(UserQuery(search: UserSearch("d"), state: .enabled)).isEmpty)
            #expect(try await found(UserQuery(lastSignIn: .never)).count == 4)
            let name = try #require(Username("cat"))
            let cat = try #require(try await store.user(named: name))
            #expect(
                try await store.setRole(.support, of: cat.id, from: nil, at: World.now + 1, recording: []) == .changed)
            #expect(try await found(UserQuery(role: .role(.owner))) == ["ann", "dan"])
            #expect(try await found(UserQuery(role: .role(.support))) == ["cat"])
            #expect(try await found(UserQuery(role: .noRole)) == ["ben"])
            #expect(try await store.disableUser(cat.id, at: World.now + 2, recording: []) == .changed)
            #expect(try await found(UserQuery(state: .enabled)) == ["ann"])
            #expect(try await store.user(cat.id)?.changedAt == World.now + 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the commit that begins a session records the time of the sign-in`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let bob = try User.named("bob")
            #expect(try await world.store.addUser(bob) == .added)
            func found(_ lastSignIn: UserQuery.LastSignIn) async throws -> [String] {
                try await Self.names(world.store, UserQuery(lastSignIn: lastSignIn))
            }
            let time = world.session.authenticatedAt
            #expect(try await world.store.userOverview(world.user.id)?.lastSignInAt == time)
            #expect(try await found(.never) == ["bob"])
            #expect(try await found(.since(time)) == ["ada"])
            #expect(try await found(.before(time)).isEmpty)
            #expect(try await found(.before(time + 1)) == ["ada"])
            #expect(try await found(.since(time + 1)).isEmpty)
            // The end of the session leaves the time, and a refused sign-in records none.
            #expect(try await world.store.endSession(world.session.digest, at: World.now, recording: []))
            #expect(try await found(.since(time)) == ["ada"])
            let refused = try await world.store.beginSession(
                .example(of: bob), proving: .password(.other), replacing: nil, recording: [])
            #expect(refused == .proofOutdated)
            #expect(try await found(.never) == ["bob"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `pages continue by user name, whatever happens to the last one`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            for number in 1...5 { #expect(try await store.addUser(try Self.user("u\(number)")) == .added) }
            let first = try await store.users(matching: UserQuery(search: UserSearch("u"), limit: 2))
            #expect(first.users.map(\.user.username.rawValue) == ["u1", "u2"])
            let last = try #require(first.next)
            let user = try #require(first.users.last?.user)
            _ = try await store.beginRemoval(
                of: user.id, by: World.terms(of: user), recording: { _ in [] }, at: World.now)
            let second = try await store.users(matching: UserQuery(search: UserSearch("u"), after: last, limit: 2))
            #expect(second.users.map(\.user.username.rawValue) == ["u3", "u4"])
            let third = try await store.users(
                matching: UserQuery(search: UserSearch("u"), after: second.next, limit: 2))
            #expect(third.users.map(\.user.username.rawValue) == ["u5"] && third.next == nil)
            #expect(try await store.userCount(matching: UserQuery(after: last, limit: 1)) == UserCount(4))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a call examines a limited number of users, and the next one continues`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            try await store.addMany(UserQuery.examined + 100)
            let query = UserQuery(lacksSecondFactor: true, lacksPasskey: true, limit: 10)
            var found: [String] = []
            var next: Username?
            // No index answers this filter.
            var calls = 0
            repeat {
                let page = try await store.users(
                    matching: UserQuery(role: .noRole, lastSignIn: .since(World.now), after: next))
                found += page.users.map(\.user.username.rawValue)
                (next, calls) = (page.next, calls + 1)
            } while next != nil && calls < 9
            #expect(found.isEmpty && calls == 2)
            #expect(try await store.users(matching: query).users.count == 10)
            let count = try await store.userCount(matching: UserQuery())
            #expect(count.number == UserCount.limit && !count.isExact)
            #expect(try await store.userCount(matching: UserQuery(state: .disabled)) == UserCount(0))
            // Every display name begins with the text, so no one is found by it alone, and the page says so.
            let page = try await store.users(matching: UserQuery(search: UserSearch("x")))
            #expect(page.users.isEmpty && page.isTooBroad && page.next == nil)
            let named = try await store.users(matching: UserQuery(search: UserSearch("u0000"), limit: 100))
            #expect(named.users.count == 9 && !named.isTooBroad)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `of owners who take each other's role away at once, one is left`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            var ids: [UserIdentifier] = []
            for number in 0..<8 {
                let user = try Self.user("root\(number)", role: .owner)
                #expect(try await store.addUser(user) == .added)
                ids.append(user.id)
            }
            let counts = try await outcomes(of: 8) { [ids] number in
                number.isMultiple(of: 2)
                    ? try await store.setRole(
                        .administrator, of: ids[number], from: .owner, at: World.now, recording: [])
                    : try await store.disableUser(ids[number], at: World.now, recording: [])
            }
            #expect(counts == [.changed: 7, .lastOwner: 1])
            let left = try await store.users(matching: UserQuery(state: .enabled, role: .role(.owner)))
            #expect(left.users.count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the last owner who can sign in is not disabled, demoted or deleted`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let (root, other) = (
                try Self.user("root", role: .owner),
                try Self.user("other", role: .owner, disabledAt: World.now)
            )
            for user in [root, other] { #expect(try await store.addUser(user) == .added) }
            #expect(try await store.disableUser(root.id, at: World.now, recording: []) == .lastOwner)
            #expect(
                try await store.setRole(.administrator, of: root.id, from: .owner, at: World.now, recording: [])
                    == .lastOwner)
            let removal = try await store.beginRemoval(
                of: root.id, by: World.terms(of: root), recording: { _ in [] }, at: World.now)
            #expect(removal == .lastOwner)
            #expect(try await store.user(root.id) == root)
            // A disabled owner is none who can sign in, and can lose the role.
            #expect(try await store.setRole(nil, of: other.id, from: .owner, at: World.now, recording: []) == .changed)
            #expect(try await store.setRole(.owner, of: other.id, from: nil, at: World.now, recording: []) == .changed)
            #expect(try await store.enableUser(other.id, at: World.now, recording: []) == .changed)
            #expect(try await store.disableUser(root.id, at: World.now, recording: []) == .changed)
            for role in [UserRole.owner, nil] {
                let outcome = try await store.setRole(
                    role, of: UserIdentifier(), from: nil, at: World.now, recording: [])
                #expect(outcome == .notFound)
            }
        }
    }

    // The sign-in of a user with rights can need more, and a link may be of a user who must not have them.
    @Test(arguments: StoreKind.allCases)
    func `a role that gives a right ends the sessions and the links of the user`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.addUser(try Self.user("root", role: .owner)) == .added)
            let user = try Self.user("ann")
            #expect(try await store.addUser(user) == .added)
            let steps: [(UserRole?, UserRole?, endsAccess: Bool)] = [
                (nil, .developer, false), (.developer, .support, true), (.support, .auditor, true),
                (.auditor, .administrator, true), (.administrator, .owner, true), (.owner, .administrator, false),
                (.administrator, nil, false),
            ]
            for (number, (former, role, endsAccess)) in steps.enumerated() {
                let session = Session.example(of: user)
                _ = try await store.beginSession(session, proving: .example, replacing: nil)
                let link = UserLink(
                    digest: ArtefactDigest(ofUserLink: MailLinkSecret()), userID: user.id, origin: .operator,
                    expires: World.now + 60)
                #expect(try await store.addUserLink(link, sending: nil, recording: []) == .added)
                // A role that another request has changed meanwhile stays.
                let other: UserRole? = former == .owner ? nil : .owner
                let late = try await store.setRole(.owner, of: user.id, from: other, at: World.now, recording: [])
                #expect(late == (former == .owner ? .unchanged : .changedMeanwhile))
                let given = try await store.setRole(role, of: user.id, from: former, at: World.now, recording: [])
                #expect(given == .changed)
                #expect(try await store.user(user.id)?.role == role)
                #expect(try await store.sessions(of: user.id).isEmpty == endsAccess, "\(number)")
                #expect(try await store.userLink(link.digest) == nil || !endsAccess, "\(number)")
                for session in try await store.sessions(of: user.id) {
                    _ = try await store.endSession(session.digest, of: user.id, at: World.now, recording: [])
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a link is not added, and no account is changed, for a user who got another role meanwhile`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { store async throws in
            let user = try Self.user("ann")
            #expect(try await store.addUser(user) == .added)
            func add(_ role: UserQuery.Role?) async throws -> AddUserLinkOutcome {
                try await store.addUserLink(
                    UserLink(
                        digest: ArtefactDigest(ofUserLink: MailLinkSecret()), userID: user.id, origin: .operator,
                        expires: World.now + 60,
                        requiredRole: role), sending: nil, recording: [])
            }
            for role in [nil, .noRole] as [UserQuery.Role?] { #expect(try await add(role) == .added) }
            #expect(try await store.setRole(.owner, of: user.id, from: nil, at: World.now, recording: []) == .changed)
            #expect(try await add(.noRole) == .userNotActive)
            #expect(try await add(.role(.administrator)) == .userNotActive)
            #expect(try await add(.role(.owner)) == .added)
            var changed = user
            changed.email = EmailAddress("other@example.com")
            let outcome = try await store.updateUser(changed, from: user, at: World.now, recording: [])
            #expect(outcome == .changedMeanwhile)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an owner without a way to sign in is none who is left`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let root = try Self.user("root", role: .owner)
            var new = try Self.user("new", role: .owner)
            new.passwordHash = nil
            for user in [root, new] { #expect(try await store.addUser(user) == .added) }
            func outcomes() async throws -> [ChangeStandingOutcome] {
                [
                    try await store.disableUser(root.id, at: World.now, recording: []),
                    try await store.setRole(nil, of: root.id, from: .owner, at: World.now, recording: []),
                ]
            }
            #expect(try await outcomes() == [.lastOwner, .lastOwner])
            let removal = try await store.beginRemoval(
                of: root.id, by: World.terms(of: root), recording: { _ in [] }, at: World.now)
            #expect(removal == .lastOwner)
            let passkey = Passkey.example(1, of: new)
            #expect(try await store.addPasskey(passkey, recording: []) == .added)
            #expect(try await outcomes() == [.changed, .changed])
            // The passkey of the one who is left is the last way in.
            #expect(try await store.removePasskey(passkey.digest, of: new.id, recording: []) == .neededAsWayIn)
        }
    }

    // The text of the search and the last user of a page are both lower bounds, and the larger one counts.
    @Test(arguments: StoreKind.allCases)
    func `a search continues before and after its text`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            for user in [
                try Self.user("ann", email: "mia@example.com"), try Self.user("mia"), try Self.user("mia2"),
                try Self.user("zoe", displayName: "Mia"),
            ] { #expect(try await store.addUser(user) == .added) }
            for (after, names) in [
                (nil, ["ann", "mia", "mia2", "zoe"]), ("aaa", ["ann", "mia", "mia2", "zoe"]),
                ("ann", ["mia", "mia2", "zoe"]), ("mia", ["mia2", "zoe"]), ("mia2", ["zoe"]), ("zoe", []),
            ] as [(String?, [String])] {
                let query = UserQuery(search: UserSearch("mia"), after: after.flatMap { Username($0) })
                #expect(try await Self.names(store, query) == names)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the records that a deletion would delete are counted`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            try await world.approve(world.grant())
            let event = AuditEvent(at: World.now, .account, userID: world.user.id, detail: "changed")
            #expect(try await world.store.updateUser(world.user, at: World.now, recording: [event]) == .updated)
            let counts = try #require(try await world.store.removalCounts(of: world.user.id))
            #expect(
                counts
                    == RemovalCounts(
                        sessions: UserCount(1), passkeys: UserCount(0), consents: UserCount(1), grants: UserCount(1),
                        clients: UserCount(0), events: UserCount(1)))
            #expect(try await world.store.removalCounts(of: UserIdentifier()) == nil)
        }
    }
}

extension SQLStore {
    /// Adds users with the names u00001 and so on, in one transaction.
    func addMany(_ count: Int) async throws {
        try await database.engine.commit { database in
            for number in 1...count {
                let digits = String(number)
                try database.send(
                    """
                    INSERT INTO people (
                        number, id, username, display_name, display_name_key, profile, created_at, changed_at
                    ) VALUES (?1, ?2, ?3, 'X', 'x', '{}', 0, 0)
                    """,
                    number, UserIdentifier().rawValue,
                    "u" + String(repeating: "0", count: 5 - digits.count) + digits)
            }
        }
    }
}
