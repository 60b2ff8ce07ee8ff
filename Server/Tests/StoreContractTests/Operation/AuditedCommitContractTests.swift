import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import TestSupport
import Testing

@Suite("The contract: the events of a commit")
struct AuditedCommitContractTests {
    /// A commit, and the same commit again, which changes nothing.
    struct Step: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (World) async throws -> @Sendable ([AuditEvent]) async throws -> Bool

        init(
            _ name: String,
            _ make: @escaping @Sendable (World) async throws -> @Sendable ([AuditEvent]) async throws -> Bool
        ) {
            testDescription = name
            self.make = make
        }
    }

    private static let key = SealedSigningKey(
        id: KeyIdentifier("key-1"), algorithm: .es256, sealed: [1, 2, 3], createdAt: World.now)

    static let steps = users + clients + settings

    private static let clients = [
        Step("add a client") { world async throws in
            let client = try RegisteredClient.named("app-other")
            return { events in
                try await world.store.addClient(
                    client, logo: nil, secret: nil, ownerLimit: .max, recording: events
                ).isCommitted
            }
        },
        Step("change a client") { world async throws in
            { try await world.store.updateClient(world.client, logo: .keep, recording: $0).isCommitted }
        },
        Step("suspend a client") { world async throws in
            { events in
                try await world.store.decide(
                    .suspend(reason: "It sends mail."), on: world.client.id, at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("add a user who manages a client") { world async throws in
            let user = try User.named("bob")
            #expect(try await world.store.addUser(user) == .added)
            return { events in
                try await world.store.changeDevelopers(
                    of: world.client.id, .add(user.id), by: .administration, at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("hand a client over") { world async throws in
            let user = try User.named("bob")
            #expect(try await world.store.addUser(user) == .added)
            let added = try await world.store.changeDevelopers(
                of: world.client.id, .add(user.id), by: .administration, at: World.now, recording: [])
            #expect(added == .changed)
            let client = try #require(try await world.store.client(world.client.id))
            return { events in
                try await world.store.changeDevelopers(
                    of: world.client.id, .handOver(to: user.id, client: client, ownerLimit: 9), by: .administration,
                    at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("withdraw a question to manage a client") { world async throws in
            let name = try #require(Username("nobody"))
            let asked = try await world.store.changeDevelopers(
                of: world.client.id, .invite(name, nil), by: .administration, at: World.now, recording: [])
            #expect(asked == .changed)
            return { events in
                try await world.store.changeDevelopers(
                    of: world.client.id, .withdraw(name), by: .administration, at: World.now, recording: events
                ).isCommitted
            }
        },
        Step("delete a client") { world async throws in
            { try await world.store.removeClient(world.client.id, recording: $0) }
        },
        Step("delete a secret") { world async throws in
            let secret = ClientSecretRecord.example(of: world.client)
            let event = AuditEvent(at: World.now, .clientSecret)
            #expect(try await world.store.addClientSecret(secret, recording: [event]) == .added)
            #expect(try await world.store.audit(AuditQuery()).map(\.event) == [event])
            return { events in
                try await world.store.removeClientSecret(secret.digest, of: world.client.id, recording: events)
            }
        },
    ]

    private static let settings = [
        Step("add a scope") { world async throws in
            let scope = ScopeDefinition(token: try #require(Scope.Token("photos.read")), description: "See photos")
            return { try await world.store.addScope(scope, recording: $0).isCommitted }
        },
        Step("change a scope") { world async throws in
            let former = ScopeDefinition(token: try #require(Scope.Token("photos.read")), description: "See photos")
            #expect(try await world.store.addScope(former) == .added)
            var scope = former
            scope.description = "See your photos"
            return { [scope] in try await world.store.updateScope(scope, from: former, recording: $0).isCommitted }
        },
        Step("delete a scope") { world async throws in
            let scope = ScopeDefinition(token: try #require(Scope.Token("photos.read")), description: "See photos")
            #expect(try await world.store.addScope(scope) == .added)
            return { events in
                let outcome = try await world.store.removeScope(
                    scope.token, takingFromUses: true, at: World.now, recording: { _ in events })
                guard case .removed = outcome else { return false }
                return true
            }
        },
        Step("delete an API") { world async throws in
            let api = RegisteredResource(
                resource: try Resource("https://photos.example.com"),
                clientID: try #require(RegisteredResource.newClientID()), name: "Photos", scope: Scope([.openID]),
                secret: ArtefactDigest(of: ClientSecret()), createdAt: World.now)
            let event = AuditEvent(at: World.now, .setting)
            #expect(try await world.store.addResource(api, recording: [event]) == .added)
            #expect(try await world.store.addResource(api, recording: [event]) == .exists)
            #expect(try await world.store.audit(AuditQuery()).map(\.event) == [event])
            return { try await world.store.removeResource(api.resource, recording: $0) }
        },
        Step("set up a second factor") { world async throws in
            let factor = SecondFactor.example(of: world.user)
            return {
                try await world.store.addSecondFactor(factor, recoveryCodes: [], keeping: nil, recording: $0)
                    .isCommitted
            }
        },
        Step("change a second factor") { world async throws in
            let factor = SecondFactor.example(of: world.user)
            #expect(
                try await world.store.addSecondFactor(factor, recoveryCodes: [], keeping: nil, recording: []) == .added)
            let use = SecondFactorUse.code(factor.digest, step: factor.lastStep + 1)
            return {
                try await world.store.changeSecondFactor(
                    of: world.user.id, to: .recoveryCodes([]), proving: use, recording: $0
                ).isCommitted
            }
        },
        Step("offer a passkey") { world async throws in
            { try await world.store.notePasskeyOffer(to: world.user.id, at: World.now, recording: $0) }
        },
        Step("reset a second factor") { world async throws in
            let factor = SecondFactor.example(of: world.user)
            #expect(
                try await world.store.addSecondFactor(factor, recoveryCodes: [], keeping: nil, recording: []) == .added)
            return { try await world.store.resetSecondFactor(of: world.user.id, recording: $0) }
        },
        Step("add the first signing key") { world async throws in
            { try await world.store.addFirstSigningKey(key, recording: $0).isCommitted }
        },
        Step("change the branding") { world async throws in
            let branding = try await world.store.branding()
            return { try await world.store.updateBranding(branding, logo: .keep, recording: $0).isCommitted }
        },
        Step("change the policy for unregistered clients") { world async throws in
            let policy = try await world.store.unregisteredClientPolicy()
            return { try await world.store.updateUnregisteredClientPolicy(policy, recording: $0).isCommitted }
        },
        Step("request a new certificate") { world async throws in
            let holder = LeaseHolder()
            #expect(try await world.store.takeOrderLease(holder, until: World.now + 30, at: World.now))
            #expect(
                try await world.store.storeCertificate(
                    IssuedCertificate(
                        chain: "chain", sealedKey: [1], authority: "https://ca.example/", storedAt: World.now),
                    orderedWith: ArtefactDigest(of: ClientSecret()), by: holder))
            return { try await world.store.requestRenewal(recording: $0) }
        },
        Step("add the last webhook that is possible") { world async throws in
            let url = try AbsoluteURI(parsing: "https://hooks.example.com/")
            func webhook(_ number: Int) -> Webhook {
                Webhook(
                    url: url, label: "\(number)", types: [], sealedSecret: [1], createdAt: World.now, cursor: 0)
            }
            for number in 2...Webhook.limit {
                #expect(try await world.store.addWebhook(webhook(number), recording: []) == .added)
            }
            let last = webhook(1)
            return { try await world.store.addWebhook(last, recording: $0).isCommitted }
        },
        Step("change a webhook") { world async throws in
            let webhook = try await Self.webhook(in: world)
            return {
                try await world.store.updateWebhook(webhook, from: webhook, at: World.now, recording: $0).isCommitted
            }
        },
        Step("move and delete a webhook") { world async throws in
            let webhook = try await Self.webhook(in: world)
            let event = AuditEvent(at: World.now, .setting)
            #expect(try await world.store.moveWebhook(webhook.id, to: 7, at: World.now, recording: [event]))
            #expect(try await world.store.resendEvent(7, to: webhook.id, recording: [event]) == .queued)
            #expect(try await world.store.audit(AuditQuery()).map(\.event) == [event, event])
            return { try await world.store.removeWebhook(webhook.id, recording: $0) }
        },
        Step("delete a registration token") { world async throws in
            let token = InitialAccessToken(
                digest: ArtefactDigest(of: ClientSecret()), name: "Partners", createdAt: World.now,
                expiresAt: World.now + 60)
            let event = AuditEvent(at: World.now, .setting)
            try await world.store.addInitialAccessToken(token, recording: [event])
            #expect(try await world.store.audit(AuditQuery()).map(\.event) == [event])
            return { try await world.store.removeInitialAccessToken(token.digest, recording: $0) }
        },
    ]

    private static func webhook(in world: World) async throws -> Webhook {
        let webhook = Webhook(
            url: try AbsoluteURI(parsing: "https://hooks.example.com/"), label: "Photos", types: [],
            sealedSecret: [1], createdAt: World.now, cursor: 0)
        #expect(try await world.store.addWebhook(webhook, recording: []) == .added)
        return webhook
    }

    @Test(arguments: StoreKind.allCases, steps)
    func `a commit appends its events in their order with their notices, and appends none if it changes nothing`(
        _ kind: StoreKind, _ step: Step
    ) async throws {
        try await kind.withWorld { world async throws in
            let commit = try await step.make(world)
            let notices = (1...2).map { _ in
                NewMail(
                    id: MailIdentifier(), userID: world.user.id, sealed: [1], createdAt: World.now + 60,
                    expires: World.now + 120)
            }
            let events = zip(["one", "two"], notices).map { detail, notice in
                AuditEvent(at: World.now + 60, .setting, userID: world.user.id, detail: detail).notifying(by: notice)
            }
            #expect(try await commit(events))
            let queued = try await world.store.takeMails(dueAt: World.now + 60, until: World.now + 90, limit: 10)
            #expect(Set(queued.map(\.mail)).isSuperset(of: notices))
            let log = try await world.store.audit(AuditQuery(since: World.now + 60)).map(\.event)
            #expect(log == events.reversed())
            #expect(try await !commit(events))
            #expect(try await world.store.audit(AuditQuery(since: World.now + 60)).count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a session is begun with the event of the sign-in, unless the password has changed`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let event = AuditEvent(at: World.now, .signIn, userID: world.user.id)
            for (hash, count) in [(PasswordHash.other, 0), (.example, 1)] {
                _ = try await world.store.beginSession(
                    .lasting(of: world.user), proving: .password(hash), replacing: nil, recording: [event])
                #expect(try await world.store.audit(AuditQuery()).map(\.event) == Array(repeating: event, count: count))
            }
        }
    }

    // A commit is sent again if its answer was lost.
    @Test(arguments: StoreKind.allCases)
    func `an approval or a refresh that is sent again appends its events once`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            let consent = AuditEvent(at: World.now, .consent, userID: world.user.id, grantID: grant.id)
            let plain = world.approval(grant, try CodeRecord.example(for: grant))
            let approval = Approval(
                grant: plain.grant, code: plain.code, asked: plain.asked, appearance: plain.appearance,
                clientRevision: plain.clientRevision, pkce: plain.pkce, passwordHash: plain.passwordHash,
                basis: plain.basis, events: [consent], newClientEvent: AuditEvent(at: World.now, .client))
            for _ in 1...2 { #expect(try await world.store.recordConsent(approval) == .recorded) }
            #expect(try await world.store.audit(AuditQuery()).map(\.event) == [consent])

            let family = try await world.refreshFamily(of: world.grant())
            let facts = try #require(try await world.store.refreshFacts(family.digest))
            let refresh = AuditEvent(at: World.now + 1, .refreshRepeat)
            let attempt = CommitAttempt()
            for _ in 1...2 {
                let outcome = try await world.store.recordRefresh(
                    facts, .advance(to: 1), attempt: attempt, now: World.now, recording: [refresh])
                #expect(outcome == .recorded)
            }
            #expect(
                try await world.store.recordRefresh(
                    facts, .advance(to: 1), attempt: CommitAttempt(), now: World.now, recording: [refresh])
                    == .changedMeanwhile)
            #expect(try await world.store.audit(AuditQuery()).map(\.event) == [refresh, consent])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the events of a deletion name what it has deleted`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let owned = try RegisteredClient.named("app-owned", owner: world.user.id)
            #expect(try await world.store.addClient(owned) == .added)
            func removal(_ fate: RemovalTerms.OwnedClients) async throws -> BeginRemovalOutcome {
                let terms = try World.terms(of: world.user, ownedClients: fate)
                return try await world.store.beginRemoval(
                    of: world.user.id, by: terms,
                    recording: { clients in
                        [AuditEvent(at: World.now, .account, userID: terms.pseudonym)]
                            + clients.map { AuditEvent(at: World.now, .client, clientID: $0) }
                    }, at: World.now)
            }
            #expect(try await removal(.refuse) == .ownsClients([owned.id]))
            #expect(try await world.store.audit(AuditQuery()).isEmpty)
            #expect(try await removal(.delete([owned.id])) == .begun([owned.id]))
            let events = try await world.store.auditLog(after: nil, limit: 9).map(\.event)
            #expect(events.map(\.kind) == [.account, .client])
            #expect(events.last?.clientID == owned.id)
        }
    }
}
