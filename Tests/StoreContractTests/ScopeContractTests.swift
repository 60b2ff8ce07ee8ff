import CounterfoilProtocol
import CounterfoilServer
import Testing

@Suite("The contract: scopes")
struct ScopeContractTests {
    @Test(arguments: StoreKind.allCases)
    func `the scopes of the standards exist from the start, by name`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.scopes() == ScopeDefinition.standard.sorted { $0.token < $1.token })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a scope is added once, and names differ by case`(_ kind: StoreKind) async throws {
        let read = ScopeDefinition(token: try #require(Scope.Token("photos.read")), description: "See your photos")
        let other = ScopeDefinition(token: try #require(Scope.Token("Photos.Read")), description: "Something else")
        try await kind.withStore { store async throws in
            #expect(try await store.addScope(read) == .added)
            #expect(try await store.addScope(ScopeDefinition(token: read.token, description: "Changed")) == .exists)
            #expect(try await store.addScope(ScopeDefinition(token: .openID, description: "Changed")) == .exists)
            #expect(try await store.addScope(other) == .added)
            let scopes = try await store.scopes()
            #expect(scopes == (ScopeDefinition.standard + [read, other]).sorted { $0.token < $1.token })
        }
    }
}
