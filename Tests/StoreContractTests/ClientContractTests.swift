import CounterfoilProtocol
import CounterfoilServer
import Foundation
import Testing

@Suite("The contract: applications")
struct ClientContractTests {
    @Test(arguments: StoreKind.allCases)
    func `an application comes back as it was registered`(_ kind: StoreKind) async throws {
        let full = try RegisteredClient.named("app-full")
        let bare = RegisteredClient(
            id: try #require(ClientIdentifier("app bare ' -- \"")),
            type: .service,
            name: "",
            redirectURIs: [],
            scope: Scope(),
            requiresState: false,
            createdAt: World.now.addingTimeInterval(-1)
        )
        try await kind.withStore { store async throws in
            #expect(try await store.addClient(full) == .added)
            #expect(try await store.addClient(bare) == .added)
            #expect(try await store.client(full.id) == full)
            #expect(try await store.client(full.id)?.redirectURIs.map(\.rawValue) == full.redirectURIs.map(\.rawValue))
            #expect(try await store.client(bare.id) == bare)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `applications are listed oldest first, those of one moment as they came`(_ kind: StoreKind) async throws {
        let late = try RegisteredClient.named("late", createdAt: World.now.addingTimeInterval(1))
        let same = try ["z", "a", "m"].map { try RegisteredClient.named($0) }
        try await kind.withStore { store async throws in
            for client in [late] + same { #expect(try await store.addClient(client) == .added) }
            #expect(try await store.clients() == same + [late])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `identifiers are unique, case-sensitive, and an unknown one finds nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let first = try RegisteredClient.named("app")
            #expect(try await store.addClient(first) == .added)
            var second = first
            second.name = "Another"
            #expect(try await store.addClient(second) == .identifierTaken)
            #expect(try await store.client(first.id) == first)
            #expect(try await store.client(try #require(ClientIdentifier("APP"))) == nil)
            #expect(try await store.addClient(.named("APP")) == .added)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an application cannot be assigned scopes that do not exist`(_ kind: StoreKind) async throws {
        let unknown = try Scope(parsing: "photos.read OpenID")
        try await kind.withStore { store async throws in
            let client = try RegisteredClient.named("app", scope: Scope([.openID]).union(unknown))
            #expect(try await store.addClient(client) == .unknownScopes(unknown))
            #expect(try await store.client(client.id) == nil)
            for token in unknown.tokens {
                #expect(try await store.addScope(ScopeDefinition(token: token, description: "It")) == .added)
            }
            #expect(try await store.addClient(client) == .added)
        }
    }
}
