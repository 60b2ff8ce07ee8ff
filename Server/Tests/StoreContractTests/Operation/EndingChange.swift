import CounterfoilProtocol
import CounterfoilSQL
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import Testing

/// A change that ends something, and the kinds of the lines that it leaves in an endings journal.
struct EndingChange: Sendable, CustomTestStringConvertible {
    /// The steps of a change, which can be made in several stores with the same users, clients and sessions.
    struct Steps: Sendable {
        /// Creates what the change ends.
        var prepare: @Sendable (World) async throws -> Void = { _ in }
        let end: @Sendable (World) async throws -> Void
        /// Returns true before the change, and false after it; nil if the change only shows in the report.
        var isValid: (@Sendable (World) async throws -> Bool)?
        /// Returns true if a restored store still has what the change does not end.
        var isLeft: @Sendable (World) async throws -> Bool = { _ in true }
        /// The report of a restore, without the number of endings.
        var report = RestoreReport()
    }

    let testDescription: String
    let kinds: Set<Ending.Kind>
    let steps: @Sendable (World) async throws -> Steps

    init(
        _ name: String, _ kinds: Set<Ending.Kind>, _ steps: @escaping @Sendable (World) async throws -> Steps
    ) {
        testDescription = name
        self.kinds = kinds
        self.steps = steps
    }

    /// Changes that have every kind of ending together.
    static let all = users + passkeys + grants + clients + settings

    private static let users = [
        EndingChange("a sign-out", [.session]) { world async throws in
            let other = Session.lasting(of: world.user)
            return Steps(
                prepare: { try await $0.begin(other) },
                end: { world async throws in
                    _ = try await world.store.endSession(world.session.digest, at: World.now, recording: [])
                },
                isValid: { try await $0.store.session($0.session.digest) != nil },
                isLeft: { try await $0.store.session(other.digest) != nil })
        },
        EndingChange("a new password", [.password, .session]) { world async throws in
            var report = RestoreReport()
            report.withoutPassword = [world.user.username.rawValue]
            return Steps(
                end: { world async throws in
                    _ = try await world.store.changePassword(
                        of: world.user.id, from: .example, to: .other, keeping: nil, at: World.now, recording: [])
                },
                isValid: { world async throws in
                    let session = Session.lasting(of: world.user)
                    let outcome = try await world.store.beginSession(
                        session, proving: .example, replacing: nil, recording: [])
                    return outcome == .begun(session.id)
                },
                isLeft: { world async throws in
                    let user = try #require(try await world.store.user(world.user.id))
                    // The new password is not in the copy.
                    return user.disabledAt == nil && user.passwordHash == nil
                },
                report: report)
        },
        EndingChange("a new password by a link", [.password, .session]) { world async throws in
            var report = RestoreReport()
            report.withoutPassword = [world.user.username.rawValue]
            let link = UserLink(
                digest: ArtefactDigest(ofUserLink: MailLinkSecret()), userID: world.user.id, origin: .operator,
                expires: World.now + 60)
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addUserLink(link, sending: nil, recording: []) == .added)
                },
                end: { world async throws in
                    let reset = PasswordReset(of: world.user, by: .link(link.digest, nil), to: .other)
                    let outcome = try await world.store.resetPassword(
                        reset, at: World.now, recording: [])
                    #expect(outcome == .reset)
                },
                isValid: { world async throws in
                    let session = Session.lasting(of: world.user)
                    let outcome = try await world.store.beginSession(
                        session, proving: .example, replacing: nil, recording: [])
                    return outcome == .begun(session.id)
                },
                isLeft: { try #require(try await $0.store.user($0.user.id)).passwordHash == nil },
                report: report)
        },
        EndingChange("a removed password", [.password, .session]) { world async throws in
            var report = RestoreReport()
            report.withoutPassword = [world.user.username.rawValue]
            return Steps(
                prepare: { world async throws in
                    for number: UInt8 in 1...2 {
                        let passkey = Passkey.example(number, of: world.user)
                        #expect(try await world.store.addPasskey(passkey, recording: []) == .added)
                    }
                },
                end: { world async throws in
                    _ = try await world.store.changePassword(
                        of: world.user.id, from: .example, to: nil, keeping: nil, at: World.now, recording: [])
                },
                isValid: { world async throws in
                    let session = Session.lasting(of: world.user)
                    let outcome = try await world.store.beginSession(
                        session, proving: .example, replacing: nil, recording: [])
                    return outcome == .begun(session.id)
                },
                isLeft: { try #require(try await $0.store.user(world.user.id)).passwordHash == nil },
                report: report)
        },
        EndingChange("a withdrawn invitation", [.invitation]) { world async throws in
            let invitation = Invitation.lasting
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addInvitation(invitation, sending: nil, recording: []) == .added)
                },
                end: { _ = try await $0.store.removeInvitation(invitation.digest, recording: []) },
                isValid: { try await $0.store.invitation(invitation.digest, at: World.now) != nil })
        },
        EndingChange("a used invitation", [.invitation]) { world async throws in
            let invitation = Invitation.lasting
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addInvitation(invitation, sending: nil, recording: []) == .added)
                },
                end: { world async throws in
                    let added = try await world.store.addUser(
                        try .named("invited"), by: .invitation(invitation.digest), at: World.now, recording: [])
                    #expect(added == .added)
                },
                isValid: { try await $0.store.invitation(invitation.digest, at: World.now) != nil })
        },
        EndingChange("a disabled user", [.userDisabled, .session]) { world async throws in
            var report = RestoreReport()
            report.disabled = [world.user.username.rawValue]
            return Steps(
                end: { world async throws in
                    try await world.store.disableUser(world.user.id, at: World.now, recording: [])
                },
                isValid: { world async throws in
                    let user = try await world.store.user(world.user.id)
                    let session = try await world.store.session(world.session.digest)
                    return user?.disabledAt == nil || session != nil
                },
                report: report)
        },
        EndingChange("the withdrawn role of a user", [.userDemoted]) { world async throws in
            var report = RestoreReport()
            report.demoted = [world.user.username.rawValue]
            return Steps(
                prepare: { world async throws in
                    var other = try User.named("root")
                    other.role = .owner
                    #expect(try await world.store.addUser(other) == .added)
                    _ = try await world.store.setRole(
                        .owner, of: world.user.id, from: nil, at: World.now, recording: [])
                },
                end: { world async throws in
                    _ = try await world.store.setRole(
                        .developer, of: world.user.id, from: .owner, at: World.now, recording: [])
                },
                isValid: { try await $0.store.user($0.user.id)?.role == .owner },
                isLeft: { try await $0.store.user($0.user.id)?.disabledAt == nil },
                report: report)
        },
        EndingChange("a lost group and another value of an attribute", [.userGroup, .userAttribute]) {
            world async throws in
            var report = RestoreReport()
            report.withoutAttributes = [world.user.username.rawValue]
            let former = try UserAttributesContractTests.attributes(
                ["staff", "editors"], ["floor": .integer(3), "team": .text("Blue")])
            return Steps(
                prepare: { world async throws in
                    let outcome = try await world.store.replaceAttributes(
                        of: world.user.id, from: UserAttributes(), by: former, at: World.now, recording: [])
                    #expect(outcome == .updated)
                },
                end: { world async throws in
                    let changed = try UserAttributesContractTests.attributes(
                        ["staff"], ["floor": .integer(4), "team": .text("Blue")])
                    _ = try await world.store.replaceAttributes(
                        of: world.user.id, from: former, by: changed, at: World.now, recording: [])
                },
                isValid: { world async throws in
                    let stored = try await world.store.attributes(of: world.user.id)
                    return stored.groups.count == 2 || stored.json.contains("\"floor\":3")
                },
                isLeft: { world async throws in
                    let stored = try await world.store.attributes(of: world.user.id)
                    return stored.groups.map(\.rawValue) == ["staff"] && stored.json.contains("\"team\":\"Blue\"")
                },
                report: report)
        },
        EndingChange("a deleted user", [.userDeleted, .session, .consent]) { world async throws in
            let grant = world.grant()
            return Steps(
                prepare: { try await $0.approve(grant) },
                end: { _ = try await $0.beginRemoval() },
                isValid: { world async throws in
                    let user = try await world.store.user(world.user.id)
                    let facts = try await world.store.grantFacts(grant.id)
                    return user != nil || facts != nil
                })
        },
        EndingChange("a deleted user and their client", [.userDeleted, .client]) { world async throws in
            let owned = try RegisteredClient.named("app-owned", owner: world.user.id)
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addClient(owned) == .added)
                },
                end: { _ = try await $0.beginRemoval(ownedClients: .delete([owned.id])) },
                isValid: { world async throws in
                    let (user, client) = (world.user.id, owned.id)
                    let isUser = try await world.store.user(user) != nil
                    return try await world.store.client(client) != nil || isUser
                })
        },
        EndingChange("a deleted user whose client got another owner", [.userDeleted, .clientChanged]) {
            world async throws in
            let heir = try User.named("bob")
            let owned = try RegisteredClient.named("app-owned", owner: world.user.id)
            var report = RestoreReport()
            report.changedClients = [owned.id.rawValue]
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addUser(heir, recording: []) == .added)
                    #expect(try await world.store.addClient(owned) == .added)
                },
                end: { _ = try await $0.beginRemoval(ownedClients: .transfer(to: heir.id)) },
                isValid: { try await $0.store.user($0.user.id) != nil },
                isLeft: { world async throws in
                    // Who got it is not in the journal.
                    let client = try await world.store.client(owned.id)
                    return client != nil && client?.owner == nil
                },
                report: report)
        },
        EndingChange("a deleted owner, the only one of the copy", [.userDeleted]) { world async throws in
            func owner(_ name: String) throws -> User {
                User(
                    username: try #require(Username(name)), email: nil, displayName: name, passwordHash: .example,
                    role: .owner, createdAt: World.now)
            }
            let (former, later) = (try owner("root"), try owner("admin"))
            var report = RestoreReport()
            report.keptOwners = ["root"]
            return Steps(
                prepare: { world async throws in
                    #expect(try await world.store.addUser(former, recording: []) == .added)
                },
                end: { world async throws in
                    #expect(try await world.store.addUser(later, recording: []) == .added)
                    _ = try await world.store.beginRemoval(
                        of: former.id, by: World.terms(of: former), recording: { _ in [] }, at: World.now)
                },
                isValid: { world async throws in
                    let user = try await world.store.user(former.id)
                    return user != nil && user?.disabledAt == nil
                },
                isLeft: { try #require(try await $0.store.user(former.id)).passwordHash == nil },
                report: report)
        },
    ]

    private static let grants = [
        EndingChange("a revocation", [.grant]) { world async throws in
            let (grant, other) = (world.grant(), world.grant())
            return Steps(
                prepare: { world async throws in
                    try await world.approve(grant)
                    try await world.approve(other)
                },
                end: { world async throws in
                    _ = try await world.store.revokeGrant(
                        grant.id, because: .client, at: World.now, recording: [])
                },
                isValid: { try await $0.store.grantFacts(grant.id)?.hold == true },
                isLeft: { try await $0.store.grantFacts(other.id)?.hold == true })
        },
        EndingChange("a narrowed consent", [.grantScope, .consent]) { world async throws in
            let grant = world.grant(Scope([.openID, .profile]))
            return Steps(
                prepare: { try await $0.approve(grant) },
                end: { world async throws in
                    _ = try await world.store.narrowConsent(
                        of: world.user.id, to: world.client.id, keeping: Scope([.openID]), at: World.now,
                        recording: [])
                },
                isValid: { world async throws in
                    let (scope, consent) = (try await world.store.grant(grant.id)?.scope, try await world.consent)
                    return scope?.tokens.contains(.profile) == true || consent?.scope.tokens.contains(.profile) == true
                },
                isLeft: { world async throws in
                    let facts = try await world.store.grantFacts(grant.id)
                    return facts?.hold == true && facts?.grant.scope == Scope([.openID])
                })
        },
        EndingChange("a withdrawn consent", [.grant, .consent]) { world async throws in
            let grant = world.grant()
            return Steps(
                prepare: { try await $0.approve(grant) },
                end: { world async throws in
                    _ = try await world.store.narrowConsent(
                        of: world.user.id, to: world.client.id, keeping: Scope(), at: World.now, recording: [])
                },
                isValid: { world async throws in
                    let facts = try await world.store.grantFacts(grant.id)
                    return try await world.consent != nil || facts?.hold == true
                })
        },
        EndingChange("a withdrawn consent whose grants have expired", [.consent]) { world async throws in
            let grant = world.grant()
            return Steps(
                prepare: { world async throws in
                    try await world.approve(grant)
                    let store = try #require(world.store as? any SQLStore)
                    // The maintenance deletes expired grants, and the consent stays.
                    try await store.database.engine.commit { connection in
                        for statement in [
                            "DELETE FROM codes", "DELETE FROM grants", "UPDATE consents SET remembered = 'openid'",
                        ] {
                            try connection.send(statement)
                        }
                    }
                },
                end: { world async throws in
                    _ = try await world.store.narrowConsent(
                        of: world.user.id, to: world.client.id, keeping: Scope(), at: World.now, recording: [])
                },
                isValid: { try await $0.consent?.remembered.tokens.isEmpty == false })
        },
    ]
}

extension Invitation {
    /// An invitation that the clock of a database finds valid.
    fileprivate static var lasting: Invitation {
        Invitation(
            digest: ArtefactDigest(of: SignUpSecret()), createdAt: World.now, expiresAt: World.now + 10 * 365 * 86_400)
    }
}
