import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: the deletion of a user")
struct UserRemovalContractTests {
    @Test(arguments: StoreKind.allCases)
    func `a deleted user is gone at once for every read, with sessions, consents, grants and tokens`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let (store, ada) = (world.store, world.user)
            let bob = try await world.adding("bob")
            let bobsGrant = bob.grant()
            let bobsFamily = try await bob.refreshFamily(of: bobsGrant)
            let grant = world.grant()
            let family = try await world.refreshFamily(of: grant)
            let facts = try #require(try await store.refreshFacts(family.digest))
            let waiting = try await world.approve(world.grant())

            #expect(try await world.beginRemoval() == .begun([]))
            for _ in 1...2 {
                #expect(try await store.user(ada.id) == nil)
                #expect(try await store.user(named: ada.username) == nil)
                #expect(try await store.user(withEmail: try #require(ada.email)) == nil)
                #expect(try await store.users(after: nil, limit: 10).map(\.id) == [bob.user.id])
                #expect(try await store.session(world.session.digest) == nil)
                #expect(try await store.sessions(of: ada.id).isEmpty)
                #expect(try await world.consent == nil)
                #expect(try await store.consents(of: ada.id).isEmpty)
                #expect(try await store.userCount(of: world.client.id, atMost: 9) == 1)
                #expect(try await store.grant(grant.id) == nil)
                #expect(try await store.grantFacts(grant.id) == nil)
                #expect(try await store.grants(of: ada.id, after: nil, limit: 10).isEmpty)
                #expect(try await store.code(waiting.digest) == nil)
                #expect(try await store.consumeCode(waiting.digest, beginning: nil, at: World.now) == .gone)
                #expect(try await store.refreshFacts(family.digest) == nil)
                #expect(try await store.recordRefresh(facts, .advance(to: 1), now: World.now + 1) == .gone)
                #expect(try await store.revokeGrant(grant.id, because: .user, at: World.now) == .notFound)
                #expect(try await world.beginRemoval() == .notFound)
                try await world.finishRemovals()
            }
            #expect(try await store.sessions(of: bob.user.id) == [bob.session])
            #expect(try await store.refreshFacts(bobsFamily.digest)?.grant.id == bobsGrant.id)
            #expect(try await bob.consent != nil)
        }
    }

    // The names are free at once, and nothing of the former user belongs to the new one.
    @Test(arguments: StoreKind.allCases, [false, true])
    func `a new user with the names of a deleted one has none of its records`(
        _ kind: StoreKind, _ isFinished: Bool
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let family = try await world.refreshFamily(of: world.grant())
            let waiting = try await world.approve(world.grant())
            try await store.appendAudit(AuditEvent(at: World.now, .signIn, userID: world.user.id))
            #expect(try await world.beginRemoval() == .begun([]))
            if isFinished { try await world.finishRemovals() }

            let user = try User.named("ada", email: "ada@example.com")
            #expect(try await store.addUser(user) == .added)
            try await world.begin(.lasting(of: user))
            #expect(try await store.grants(of: user.id, after: nil, limit: 10).isEmpty)
            #expect(try await store.consents(of: user.id).isEmpty)
            #expect(try await store.audit(AuditQuery(userID: user.id)).isEmpty)
            #expect(try await store.refreshFacts(family.digest) == nil)
            #expect(try await store.code(waiting.digest) == nil)
            #expect(try await store.consumeCode(waiting.digest, beginning: nil, at: World.now) == .gone)
            try await world.finishRemovals()
            #expect(try await store.user(user.id) == user)
            #expect(try await store.sessions(of: user.id).count == 1)
        }
    }

    // A process that ends between two transactions loses nothing.
    @Test(arguments: StoreKind.allCases)
    func `the records of deleted users go in transactions of a limited size, also after a restart`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStorage { storage async throws in
            let ada = try await World(in: storage.store)
            let bob = try await ada.adding("bob")
            for world in [ada, bob] {
                for _ in 1...5 { _ = try await world.refreshFamily(of: world.grant()) }
                for number in 1...5 {
                    try await storage.store.appendAudit(
                        AuditEvent(
                            at: World.now, .signIn, number == 1 ? .refused : .done, userID: world.user.id,
                            clientID: world.client.id, source: "192.0.2.7", requestID: "r\(number)",
                            detail: number == 2 ? "typed \(world.user.username) twice" : "device"))
                }
                #expect(try await world.beginRemoval() == .begun([]))
            }
            var steps: [Int] = []
            while true {
                try await storage.reopen()
                let step = try await storage.store.continueRemovals(atMost: 2)
                guard step > 0 else { break }
                steps.append(step)
            }
            #expect(steps.count >= 5 && steps.allSatisfy { $0 <= 2 })

            for user in [ada.user, bob.user] {
                let terms = try World.terms(of: user)
                #expect(terms.pseudonym.isPseudonym && !user.id.isPseudonym)
                #expect(try await storage.store.audit(AuditQuery(userID: user.id)).isEmpty)
                let events = try await storage.store.audit(AuditQuery(userID: terms.pseudonym)).map(\.event)
                #expect(events.map(\.detail) == ["deleted", "device", "device", "device", nil, "device"])
                #expect(events.allSatisfy { $0.source == nil && $0.requestID == nil && $0.grantID == nil })
                #expect(events.last?.outcome == .refused && events.last?.clientID == ada.client.id)
            }
            #expect(try World.terms(of: ada.user).pseudonym != World.terms(of: bob.user).pseudonym)
        }
    }

    // A request in progress can note its user after the deletion.
    @Test(arguments: StoreKind.allCases)
    func `an event about a deleted user is appended without what identifies the user`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let event = AuditEvent(
                at: World.now, .signIn, userID: world.user.id, clientID: world.client.id, source: "192.0.2.7",
                requestID: "r1", detail: "of ADA@example.com")
            #expect(try await world.beginRemoval() == .begun([]))
            try await store.appendAudit(event)
            let pseudonym = try World.terms(of: world.user).pseudonym
            #expect(
                try await store.audit(AuditQuery(kind: .signIn)).map(\.event) == [
                    AuditEvent(at: World.now, .signIn, userID: pseudonym, clientID: world.client.id)
                ])
            try await world.finishRemovals()
            try await store.appendAudit(event)
            #expect(
                try await store.audit(AuditQuery(kind: .signIn)).first?.event
                    == AuditEvent(at: World.now, .signIn, clientID: world.client.id))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the last owner who can sign in is not deleted`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            func remove(_ user: User) async throws -> BeginRemovalOutcome {
                try await World(store, user: user, client: world.client, session: .lasting(of: user))
                    .beginRemoval()
            }
            let (first, second) = (try User.named("root"), try User.named("second"))
            #expect(try await store.addFirstOwner(first) == .added)
            #expect(try await remove(first) == .lastOwner)
            #expect(try await store.user(first.id) != nil)
            var disabled = second
            disabled.role = .owner
            disabled.disabledAt = World.now
            #expect(try await store.addUser(disabled) == .added)
            #expect(try await remove(first) == .lastOwner)
            #expect(try await remove(disabled) == .begun([]))
            var third = try User.named("third")
            third.role = .owner
            #expect(try await store.addUser(third) == .added)
            #expect(try await remove(first) == .begun([]))
            #expect(try await remove(third) == .lastOwner)
            #expect(try await remove(world.user) == .begun([]))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the clients of a deleted user are deleted or transferred, and keep the user otherwise`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let bob = try await world.adding("bob")
            let clients = [
                try RegisteredClient.named("app-one", owner: world.user.id),
                try .named("app-two", owner: world.user.id, createdAt: World.now + 1),
            ]
            for client in clients { #expect(try await store.addClient(client) == .added) }
            let ids = clients.map(\.id)
            #expect(try await world.beginRemoval() == .ownsClients(ids))
            for owner in [world.user.id, UserIdentifier()] {
                #expect(try await world.beginRemoval(ownedClients: .transfer(to: owner)) == .newOwnerNotFound)
            }
            #expect(try await store.user(world.user.id) == world.user)
            #expect(try await store.sessions(of: world.user.id) == [world.session])

            let later = World.now + 5
            #expect(
                try await world.beginRemoval(ownedClients: .transfer(to: bob.user.id), at: later) == .begun(ids))
            let transferred = try await store.clients(of: bob.user.id)
            #expect(transferred.map(\.id) == ids)
            #expect(transferred.allSatisfy { $0.changedAt == later && $0.revision == clients[0].revision + 1 })
            #expect(try await store.updateClient(clients[0], logo: .keep) == .changedMeanwhile)

            // A client that was registered after the operator confirmed the deletion is not deleted.
            #expect(try await store.clientIdentifiers(of: bob.user.id) == ids)
            let named = RemovalTerms.OwnedClients.delete([ids[0]])
            #expect(try await bob.beginRemoval(ownedClients: named) == .ownsClients([ids[1]]))
            #expect(try await store.clients(of: bob.user.id).count == 2)
            let more = try #require(ClientIdentifier("app-of-nobody"))
            #expect(try await bob.beginRemoval(ownedClients: .delete(ids + [more])) == .begun(ids))
            for client in ids { #expect(try await store.client(client) == nil) }
            #expect(try await store.client(world.client.id) != nil)
            // The identifier of a deleted client is not given to another developer, and a deleted user is none.
            var again = clients[0]
            again.owner = bob.user.id
            #expect(
                try await store.addClient(again, logo: nil, secret: nil, ownerLimit: 10) == .ownerNotFound)
            let carol = try await world.adding("carol")
            again.owner = carol.user.id
            #expect(
                try await store.addClient(again, logo: nil, secret: nil, ownerLimit: 10) == .identifierTaken)
        }
    }

    // OpenID Connect Back-Channel Logout §2.5
    @Test(arguments: StoreKind.allCases)
    func `due logout notifications stay queued without the identifier of the deleted user`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            var notified = try RegisteredClient.named("app-told")
            notified.backchannelLogoutURI = try AbsoluteURI(parsing: "https://app.example.com/logout")
            #expect(try await store.addClient(notified) == .added)
            let (former, second) = (Session.example(of: world.user), Session.example(of: world.user))
            for session in [former, second] {
                try await world.begin(session)
                let told = World(store, user: world.user, client: notified, session: session)
                for _ in 1...2 { try await told.approve(told.grant()) }
            }
            // The notification about the first session is queued before the deletion.
            #expect(try await store.endSession(former.digest, at: World.now))
            #expect(try await world.beginRemoval() == .begun([]))
            try await world.finishRemovals()
            #expect(try await store.logoutBacklog().count == 2)
            var sessions: Set<SessionIdentifier> = []
            for _ in 1...2 {
                let taken = try await store.takeLogoutDeliveries(dueAt: World.now, until: World.now + 60, limit: 10)
                let delivery = try #require(taken.first)
                var sealed: [UInt8]?
                if case .removed(let bytes) = delivery.subject { sealed = bytes }
                #expect(!String(decoding: try #require(sealed), as: UTF8.self).contains(world.user.id.rawValue))
                #expect(delivery.clientID == notified.id)
                sessions.insert(delivery.sessionID)
                try await store.settleLogoutDelivery(delivery, .done)
            }
            #expect(sessions == [former.id, second.id])
            #expect(try await store.logoutBacklog().count == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `pushed requests that name a deleted user are deleted, and others are kept`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let id = world.user.id.rawValue
            let token = ["{}", #"{"sub":"other","preferred_username":"ada"}"#, "x"]
                .map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
            let naming = [
                ["login_hint": "ADA"], ["login_hint": "Ada@example.com"], ["id_token_hint": token],
                ["claims": #"{"id_token":{"sub":{"value":"\#(id)"}}}"#],
            ]
            let others = [["login_hint": "adam"], ["state": "ada"], ["id_token_hint": "a.b.c"]]
            var requests: [(request: PushedRequest, isNamed: Bool)] = []
            for (parameters, isNamed) in naming.map({ ($0, true) }) + others.map({ ($0, false) }) {
                var form = FormParameters(["client_id": world.client.id.rawValue])
                for (name, value) in parameters { form.append(name, value) }
                let request = PushedRequest(
                    digest: ArtefactDigest(of: PushedRequestURI()), clientID: world.client.id,
                    parameters: form.encoded, source: nil, pushedAt: World.now, expiresAt: World.now + 60)
                let limits = PushedRequestLimits(ofClient: 100, fromSource: nil)
                #expect(try await world.store.addPushedRequest(request, within: limits) == .added)
                requests.append((request, isNamed))
            }
            #expect(try await world.beginRemoval() == .begun([]))
            try await world.finishRemovals(atMost: 2)
            for (request, isNamed) in requests {
                let kept = try await world.store.openPushedRequest(
                    request.digest, of: world.client.id, at: World.now, until: World.now + 60)
                #expect((kept == nil) == isNamed, "\(request.parameters)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the grants and consents of a user are read in pages`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let store = world.store
            let other = World(
                store, user: world.user, client: try .named("app-another"), session: world.session)
            #expect(try await store.addClient(other.client) == .added)
            let stranger = try await world.adding("bob")
            _ = try await stranger.refreshFamily(of: stranger.grant())
            var families: [GrantIdentifier: RefreshFamily] = [:]
            for world in [world, other] {
                let grant = world.grant()
                families[grant.id] = try await world.refreshFamily(of: grant)
                for _ in 1...2 { try await world.approve(world.grant()) }
            }
            var (read, last): ([GrantWithTokens], GrantPosition?) = ([], nil)
            while true {
                let page = try await store.grants(of: world.user.id, after: last, limit: 2)
                guard let end = page.last else { break }
                #expect(page.count <= 2)
                read += page
                last = GrantPosition(clientID: end.grant.clientID, id: end.grant.id)
            }
            #expect(read.count == 6 && Set(read.map(\.grant.id)).count == 6)
            #expect(read.map(\.grant.clientID.rawValue) == ["app-another", "app-lightbox"].flatMap { [$0, $0, $0] })
            #expect(read.allSatisfy { $0.family == families[$0.grant.id] })
            let first = try await store.consents(of: world.user.id, after: nil, limit: 1)
            #expect(first.map(\.client.id) == [other.client.id])
            let second = try await store.consents(of: world.user.id, after: other.client.id, limit: 9)
            #expect(second.map(\.client.id) == [world.client.id])
        }
    }
}
