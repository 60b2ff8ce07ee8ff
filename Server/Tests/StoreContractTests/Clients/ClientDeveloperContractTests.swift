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

        var names: [String] {
            get async throws { try await store.developers(of: client.id).map(\.user.username.rawValue) }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a user manages a client only after accepting, and until a removal`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let team = try await Team(world)
            #expect(try await team.change(.invite(team.bob.id), by: team.owner) == .changed)
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
                let taken = try await team.change(.handOver(to: user.id, ownerLimit: 9), by: team.bob)
                #expect(taken == .notAllowed)
            }
            #expect(try await team.change(.add(team.owner.id), by: team.bob) == .notAllowed)
            #expect(try await team.change(.remove(team.eve.id), by: team.bob) == .changed)
            for change in [ClientDeveloperChange.invite(team.eve.id), .remove(team.bob.id), .accept(team.eve.id)] {
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
            let handOver = ClientDeveloperChange.handOver(to: team.bob.id, ownerLimit: 1)
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
            #expect(try await team.change(.invite(team.bob.id), by: team.owner) == .changed)
            #expect(try await team.change(.accept(team.bob.id), by: team.bob) == .tooMany)
            let disabled = try User.named("zoe", disabledAt: World.now)
            #expect(try await team.store.addUser(disabled) == .added)
            for change in [ClientDeveloperChange.invite(disabled.id), .add(disabled.id)] {
                #expect(try await team.change(change, by: nil) == .unchanged)
            }
        }
    }
}
