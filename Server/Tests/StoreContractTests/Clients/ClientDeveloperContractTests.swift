import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

/// The users who manage a client with its owner.
@Suite("The contract: developers of a client")
struct ClientDeveloperContractTests {
    /// A client with an owner, and other users.
    private struct Team {
        let store: any AuthorizationServerStore
        let client: RegisteredClient
        let owner: User
        let bob: User
        let eve: User

        init(_ world: World) async throws {
            store = world.store
            owner = world.user
            client = try .named("app_shared", owner: owner.id)
            (bob, eve) = (try .named("bob"), try .named("eve"))
            for user in [bob, eve] { #expect(try await store.addUser(user) == .added) }
            #expect(try await store.addClient(client) == .added)
        }

        func change(
            _ change: ClientDeveloperChange, by actor: User?, at time: Date = World.now
        ) async throws -> ClientDeveloperOutcome {
            try await store.changeDevelopers(
                of: client.id, change, by: actor.map { .user($0.id) } ?? .administration, at: time, recording: [])
        }

        func asking(_ user: User) -> ClientDeveloperChange { .invite(user.username, user.id) }

        /// The names in the open questions of the client.
        var asked: [String] {
            get async throws {
                try await store.clientQuestions(of: client.id, at: World.now).map(\.username.rawValue)
            }
        }

        func invitations(of user: User) async throws -> Int {
            try await store.clientInvitations(of: user.id, at: World.now).count
        }

        var names: [String] {
            get async throws { try await store.developers(of: client.id).map(\.user.username.rawValue) }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a user manages a client only after accepting, and until a removal`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let team = try await Team(world)
            #expect(try await team.change(team.asking(team.bob), by: team.owner) == .changed)
            #expect(try await team.names.isEmpty)
            #expect(try await !team.store.isDeveloper(team.bob.id, of: team.client.id))
            let asked = try await team.store.clientInvitations(of: team.bob.id, at: World.now)
            #expect(asked == [ClientInvitation(client: team.client, owner: team.owner)])
            // A user accepts for no other user, and not without an invitation.
            #expect(try await team.change(.accept(team.bob.id), by: team.owner) == .notAllowed)
            #expect(try await team.change(.accept(team.eve.id), by: team.eve) == .unchanged)
            let late = World.now + TimeInterval(ClientDeveloper.invitationDays) * 86_400
            #expect(try await team.store.clientInvitations(of: team.bob.id, at: late).isEmpty)
            #expect(try await team.change(.accept(team.bob.id), by: team.bob, at: late) == .unchanged)
            #expect(try await team.change(.accept(team.bob.id), by: team.bob) == .changed)
            #expect(try await team.change(.accept(team.bob.id), by: team.bob) == .unchanged)
            #expect(try await team.names == ["bob"])
            #expect(try await team.store.clients(matching: ClientQuery(developer: team.bob.id)).clients.count == 1)
            #expect(try await team.change(.remove(team.bob.id), by: team.bob) == .changed)
            #expect(try await team.names.isEmpty)
            #expect(try await team.store.clients(matching: ClientQuery(developer: team.bob.id)).clients.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a developer neither removes the owner nor hands the client over, and a former one changes nothing`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let team = try await Team(world)
            for user in [team.bob, team.eve] { #expect(try await team.change(.add(user.id), by: nil) == .changed) }
            #expect(try await team.change(.remove(team.owner.id), by: team.bob) == .unchanged)
            for user in [team.bob, team.eve] {
                let handOver = ClientDeveloperChange.handOver(to: user.id, client: team.client, ownerLimit: 9)
                let taken = try await team.change(handOver, by: team.bob)
                #expect(taken == .notAllowed)
            }
            #expect(try await team.change(.add(team.owner.id), by: team.bob) == .notAllowed)
            #expect(try await team.change(.remove(team.eve.id), by: team.bob) == .changed)
            for change in [
                team.asking(team.eve), .withdraw(team.eve.username), .remove(team.bob.id), .accept(team.eve.id),
            ] {
                #expect(try await team.change(change, by: team.eve) != .changed, "\(change)")
            }
            #expect(try await team.store.client(team.client.id)?.owner == team.owner.id)
            #expect(try await team.names == ["bob"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a handover makes a developer the owner, and keeps the former owner`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let team = try await Team(world)
            let handOver = ClientDeveloperChange.handOver(to: team.bob.id, client: team.client, ownerLimit: 1)
            #expect(try await team.change(handOver, by: team.owner) == .unchanged)
            #expect(try await team.change(.add(team.bob.id), by: nil) == .changed)
            let own = try RegisteredClient.named("app_own", owner: team.bob.id)
            #expect(try await team.store.addClient(own) == .added)
            #expect(try await team.change(handOver, by: team.owner) == .tooMany)
            _ = try await team.store.removeClient(own.id, recording: [])
            #expect(try await team.change(handOver, by: team.owner) == .changed)
            let client = try #require(try await team.store.client(team.client.id))
            #expect(client.owner == team.bob.id && client.revision == team.client.revision + 1)
            #expect(try await team.names == ["ada"])
            #expect(try await team.change(.remove(team.owner.id), by: team.bob) == .changed)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted user and a deleted client leave nothing`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let team = try await Team(world)
            for user in [team.bob, team.eve] { #expect(try await team.change(.add(user.id), by: nil) == .changed) }
            let removed = try await team.store.beginRemoval(
                of: team.bob.id, by: World.terms(of: team.bob), recording: { _ in [] }, at: World.now)
            #expect(removed == .begun([]))
            #expect(try await team.names == ["eve"])
            // The new owner of a deleted user's client is no developer beside.
            let given = try await team.store.beginRemoval(
                of: team.owner.id, by: World.terms(of: team.owner, ownedClients: .transfer(to: team.eve.id)),
                recording: { _ in [] }, at: World.now)
            #expect(given == .begun([team.client.id]))
            #expect(try await team.names.isEmpty)
            #expect(try await team.store.client(team.client.id)?.owner == team.eve.id)
            let carl = try User.named("carl")
            #expect(try await team.store.addUser(carl) == .added)
            #expect(try await team.change(.add(carl.id), by: nil) == .changed)
            #expect(try await team.store.removeClient(team.client.id, recording: []))
            #expect(try await !team.store.isDeveloper(carl.id, of: team.client.id))
            #expect(try await team.change(.add(carl.id), by: nil) == .notFound)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a client has a limited number of developers, and a disabled user is none`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let team = try await Team(world)
            for number in 0..<ClientDeveloper.limit {
                let user = try User.named("dev\(number)")
                #expect(try await team.store.addUser(user) == .added)
                #expect(try await team.change(.add(user.id), by: nil) == .changed)
            }
            #expect(try await team.change(.add(team.bob.id), by: nil) == .tooMany)
            #expect(try await team.change(team.asking(team.bob), by: team.owner) == .changed)
            #expect(try await team.change(.accept(team.bob.id), by: team.bob) == .tooMany)
            let disabled = try User.named("zoe", disabledAt: World.now)
            #expect(try await team.store.addUser(disabled) == .added)
            for change in [team.asking(disabled), .add(disabled.id)] {
                #expect(try await team.change(change, by: nil) == .unchanged)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a question ends with a withdrawal, when a developer goes, and when the owner changes`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let team = try await Team(world)
            let carl = try User.named("carl")
            #expect(try await team.store.addUser(carl) == .added)
            #expect(try await team.change(.add(team.bob.id), by: nil) == .changed)
            func ask() async throws {
                #expect(try await team.change(team.asking(team.eve), by: team.bob) == .changed)
                // A name without a user leaves the same record.
                let nobody = try #require(Username("nobody"))
                #expect(try await team.change(.invite(nobody, nil), by: team.bob) == .changed)
                #expect(try await team.asked == ["eve", "nobody"])
                #expect(try await team.invitations(of: team.eve) == 1)
            }
            func expectNone() async throws {
                #expect(try await team.asked.isEmpty)
                #expect(try await team.invitations(of: team.eve) == 0)
                #expect(try await team.change(.accept(team.eve.id), by: team.eve) == .unchanged)
            }
            try await ask()
            for question in try await team.store.clientQuestions(of: team.client.id, at: World.now) {
                #expect(try await team.change(.withdraw(question.username), by: team.owner) == .changed)
            }
            try await expectNone()

            try await ask()
            #expect(try await team.change(.remove(team.bob.id), by: team.owner) == .changed)
            try await expectNone()

            #expect(try await team.change(.add(team.bob.id), by: nil) == .changed)
            try await ask()
            let handOver = ClientDeveloperChange.handOver(to: team.bob.id, client: team.client, ownerLimit: 9)
            #expect(try await team.change(handOver, by: team.owner) == .changed)
            try await expectNone()

            try await ask()
            var client = try #require(try await team.store.client(team.client.id))
            client.owner = carl.id
            #expect(try await team.store.updateClient(client, logo: .keep, recording: []) == .updated)
            try await expectNone()

            #expect(try await team.change(.add(team.bob.id), by: nil) == .changed)
            try await ask()
            let removed = try await team.store.beginRemoval(
                of: team.bob.id, by: World.terms(of: team.bob), recording: { _ in [] }, at: World.now)
            #expect(removed == .begun([]))
            try await expectNone()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a handover stores the decisions that still apply, unless the client was changed meanwhile`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let team = try await Team(world)
            #expect(try await team.change(.add(team.bob.id), by: nil) == .changed)
            var approved = team.client
            approved.approval = .approved
            approved.policy.isVouchedFor = true
            approved.policy.machineScope = Scope([.profile])
            #expect(try await team.store.updateClient(approved, logo: .keep, recording: []) == .updated)
            let stored = try #require(try await team.store.client(team.client.id))
            var settled = stored
            settled.approval = .pending
            settled.policy.isVouchedFor = false
            settled.policy.machineScope = Scope()
            let late = ClientDeveloperChange.handOver(to: team.bob.id, client: team.client, ownerLimit: 9)
            #expect(try await team.change(late, by: team.owner) == .changedMeanwhile)
            #expect(try await team.store.client(team.client.id) == stored)
            let handOver = ClientDeveloperChange.handOver(to: team.bob.id, client: settled, ownerLimit: 9)
            #expect(try await team.change(handOver, by: team.owner) == .changed)
            let client = try #require(try await team.store.client(team.client.id))
            #expect(client.owner == team.bob.id && client.approval == .pending)
            #expect(client.policy.machineScope == Scope() && !client.policy.isVouchedFor)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `questions are limited for a client and for a user, take no place of a client, and expire`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let team = try await Team(world)
            for number in 0..<ClientDeveloper.questionLimit {
                let name = try #require(Username("nobody\(number)"))
                #expect(try await team.change(.invite(name, nil), by: team.owner) == .changed)
            }
            #expect(try await team.change(team.asking(team.eve), by: team.owner) == .tooManyQuestions)
            let again = try #require(Username("nobody0"))
            #expect(try await team.change(.invite(again, nil), by: team.owner) == .changed)

            for number in 0...ClientDeveloper.invitationLimit {
                let client = try RegisteredClient.named("app_\(number)", owner: team.owner.id)
                #expect(try await team.store.addClient(client) == .added)
                let asked = try await team.store.changeDevelopers(
                    of: client.id, team.asking(team.eve), by: .user(team.owner.id), at: World.now, recording: [])
                #expect(asked == (number < ClientDeveloper.invitationLimit ? .changed : .tooMany))
            }
            #expect(try await team.change(.add(team.eve.id), by: nil) == .changed)

            let late = World.now + TimeInterval(ClientDeveloper.invitationDays) * 86_400 + 1
            let limits = ExpirationLimits(
                now: late, codesBefore: World.now, sessionsIdleBefore: World.now, refreshIdleBefore: World.now,
                grantsBefore: World.now, unusedClientsBefore: World.now, idleClientsBefore: World.now)
            while try await team.store.deleteExpired(limits, atMost: 30) > 0 {}
            #expect(try await team.asked.isEmpty)
            #expect(try await team.invitations(of: team.eve) == 0)
            #expect(try await team.names == ["eve"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the approved scopes of the administration are found for the owner and the developers of a service`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withWorld { world async throws in
            let team = try await Team(world)
            let scope = try Scope(parsing: "counterfoil.admin.clients:write")
            let definition = ScopeDefinition(token: try #require(scope.tokens.first), description: "Apps")
            #expect(try await team.store.addScope(definition) == .added)
            var service = RegisteredClient(
                id: try #require(ClientIdentifier("app_service")), type: .service, owner: team.owner.id,
                presentation: ClientPresentation(name: "Service"), redirectURIs: [], scope: scope,
                policy: .standard(for: .service), createdAt: World.now)
            #expect(try await team.store.addClient(service) == .added)
            let added = try await team.store.changeDevelopers(
                of: service.id, .add(team.bob.id), by: .administration, at: World.now, recording: [])
            #expect(added == .changed)
            for user in [team.owner, team.bob] {
                #expect(try await team.store.administrationScope(ofClientsOf: user.id) == Scope())
            }
            service = try #require(try await team.store.client(service.id))
            service.policy.machineScope = scope
            #expect(try await team.store.updateClient(service, logo: .keep, recording: []) == .updated)
            for user in [team.owner, team.bob] {
                #expect(try await team.store.administrationScope(ofClientsOf: user.id) == scope)
            }
            #expect(try await team.store.administrationScope(ofClientsOf: team.eve.id) == Scope())
        }
    }
}
