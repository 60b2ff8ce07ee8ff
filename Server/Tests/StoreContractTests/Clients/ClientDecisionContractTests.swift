import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import TestSupport
import Testing

@Suite("The contract: decisions about clients")
struct ClientDecisionContractTests {
    private static let suspension = ClientDecision.suspend(reason: "It sends mail.")

    private static func decide(_ decision: ClientDecision, in world: World) async throws -> ClientDecisionOutcome {
        try await world.store.decide(
            decision, on: world.client.id, at: World.now.addingTimeInterval(9), recording: [])
    }

    @Test(arguments: StoreKind.allCases)
    func `a suspension changes nothing else, and ends without a trace`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let grant = world.grant()
            try await world.approve(grant)
            #expect(try await Self.decide(.resume, in: world) == .alreadyDecided)
            #expect(try await Self.decide(Self.suspension, in: world) == .decided)
            var expected = world.client
            expected.suspension = ClientSuspension(at: World.now.addingTimeInterval(9), reason: "It sends mail.")
            expected.changedAt = World.now.addingTimeInterval(9)
            expected.revision = 1
            #expect(try await world.store.client(world.client.id) == expected)
            #expect(try await Self.decide(.suspend(reason: "Other"), in: world) == .alreadyDecided)
            let facts = try #require(try await world.store.grantFacts(grant.id))
            #expect(facts.isClientSuspended && !facts.hold && facts.grant == grant)
            #expect(try await Self.decide(.resume, in: world) == .decided)
            expected.suspension = nil
            expected.revision = 2
            #expect(try await world.store.client(world.client.id) == expected)
            #expect(try await world.store.grantFacts(grant.id)?.hold == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an approval needs the revision that the administrator has seen`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            for approval in [ClientApproval.pending, .development, .open] {
                var client = try #require(try await world.store.client(world.client.id))
                client.approval = approval
                #expect(try await world.store.updateClient(client, logo: .keep) == .updated)
                #expect(try await Self.decide(.approve(revision: client.revision), in: world) == .changedMeanwhile)
                #expect(try await Self.decide(.approve(revision: client.revision + 1), in: world) == .decided)
                #expect(try await world.store.client(world.client.id)?.approval == .approved)
                #expect(try await Self.decide(.approve(revision: client.revision + 2), in: world) == .alreadyDecided)
            }
        }
    }

    /// The numbers of a store with one client.
    private static func counts(pending: Int = 0, inDevelopment: Int = 0) -> ClientCounts {
        ClientCounts(all: 1, pending: pending, inDevelopment: inDevelopment, machineAccess: 0)
    }

    @Test(arguments: StoreKind.allCases)
    func `clients that wait are counted until an administrator decides`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            func change(_ change: (inout RegisteredClient) -> Void) async throws {
                var client = try #require(try await world.store.client(world.client.id))
                change(&client)
                #expect(try await world.store.updateClient(client, logo: .keep) == .updated)
            }
            let none = Self.counts()
            #expect(try await world.store.clientCounts() == none)
            try await change { ($0.approval, $0.policy.isFirstParty) = (.open, false) }
            #expect(try await world.store.clientCounts() == none)
            try await change { $0.approval = .pending }
            #expect(try await world.store.clientCounts() == Self.counts(pending: 1))
            // No one has to look at a suspended client, and one of the owner counts as approved.
            #expect(try await Self.decide(Self.suspension, in: world) == .decided)
            #expect(try await world.store.clientCounts() == none)
            #expect(try await Self.decide(.resume, in: world) == .decided)
            try await change { $0.policy.isFirstParty = true }
            #expect(try await world.store.clientCounts() == none)
            #expect(try await world.store.clientCount(matching: ClientQuery(state: .pending)) == UserCount(0))
            try await change { ($0.policy.isFirstParty, $0.approval) = (false, .development) }
            #expect(try await world.store.clientCounts() == Self.counts(inDevelopment: 1))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `there is nothing to decide about an unknown client`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let unknown = try #require(ClientIdentifier("app-unknown"))
            for decision in [Self.suspension, .resume, .approve(revision: 0)] {
                let event = AuditEvent(at: World.now, .client, clientID: unknown)
                let outcome = try await world.store.decide(decision, on: unknown, at: World.now, recording: [event])
                #expect(outcome == .notFound)
            }
            #expect(try await world.store.audit(AuditQuery()).isEmpty)
        }
    }

    // Nothing of a deleted user is left, also not the name that a developer has typed.
    @Test(arguments: StoreKind.allCases)
    func `the name of a deleted user goes from the testers of every client`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let name = world.user.username.rawValue
            let lists = [[name], [name, "bob"], ["bob", name, "eve"], ["x\(name)", "\(name)x"], []]
            for (number, names) in lists.enumerated() {
                var client = try RegisteredClient.named("app-\(number)")
                client.testers = names.compactMap { Username($0) }
                #expect(try await world.store.addClient(client) == .added)
            }
            #expect(try await world.beginRemoval() == .begun([]))
            for (number, names) in lists.enumerated() {
                let id = try #require(ClientIdentifier("app-\(number)"))
                let client = try #require(try await world.store.client(id))
                #expect(client.testers.map(\.rawValue) == names.filter { $0 != name })
                #expect(client.revision == (names.contains(name) ? 1 : 0))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a scope is reserved until it is changed`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let token = try #require(Scope.Token("photos.write"))
            let reserved = ScopeDefinition(token: token, description: "Add photos", isReserved: true)
            #expect(try await store.addScope(reserved) == .added)
            #expect(try await store.scopes().first { $0.token == token } == reserved)
            var open = reserved
            open.isReserved = false
            #expect(try await store.updateScope(open, from: reserved) == .updated)
            #expect(try await store.scopes().first { $0.token == token } == open)
        }
    }
}
