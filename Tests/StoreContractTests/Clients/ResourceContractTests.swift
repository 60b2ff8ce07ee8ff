import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import Foundation
import Testing

@Suite("The contract: APIs")
struct ResourceContractTests {
    private static func api(
        _ uri: String, scope: Scope = Scope([.openID]), clientID: ClientIdentifier? = nil,
        secret: ClientSecret = ClientSecret()
    ) throws -> RegisteredResource {
        RegisteredResource(
            resource: try Resource(uri), clientID: try #require(clientID ?? RegisteredResource.newClientID()),
            name: "Photo library · 爱达", scope: scope, secret: ArtefactDigest(of: secret), createdAt: World.now)
    }

    // An API is found by its resource indicator and by its client identifier.
    @Test(arguments: StoreKind.allCases)
    func `an API is read back by its indicator and by its identifier`(_ kind: StoreKind) async throws {
        let first = try Self.api("https://b.example.com/v1?a=b", scope: Scope([.openID, .email]))
        let second = try Self.api("https://a.example.com", scope: Scope([]))
        try await kind.withStore { store async throws in
            #expect(try await store.resources().isEmpty)
            #expect(try await store.addResource(first) == .added)
            #expect(try await store.addResource(second) == .added)
            #expect(try await store.resources() == [second, first])
            #expect(try await store.resource(first.resource) == first)
            #expect(try await store.resource(authenticatingAs: second.clientID) == second)
            #expect(try await store.resource(try Resource("https://a.example.com/")) == nil)
            #expect(try await store.resource(try Resource("https://A.example.com")) == nil)
            #expect(try await store.resource(authenticatingAs: try #require(ClientIdentifier("api_none"))) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an indicator and an identifier are unique`(_ kind: StoreKind) async throws {
        let api = try Self.api("https://a.example.com")
        try await kind.withStore { store async throws in
            #expect(try await store.addResource(api) == .added)
            #expect(try await store.addResource(try Self.api("https://a.example.com")) == .exists)
            let sameName = try Self.api("https://b.example.com", clientID: api.clientID)
            #expect(try await store.addResource(sameName) == .exists)
            #expect(try await store.resources() == [api])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an API can have only scopes that exist`(_ kind: StoreKind) async throws {
        let unknown = Scope([try #require(Scope.Token("photos.read"))])
        try await kind.withStore { store async throws in
            let api = try Self.api("https://a.example.com", scope: Scope([.openID]).union(unknown))
            #expect(try await store.addResource(api) == .unknownScopes(unknown))
            #expect(try await store.resources().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a secret is replaced, and nothing else`(_ kind: StoreKind) async throws {
        let api = try Self.api("https://a.example.com")
        let other = try Self.api("https://b.example.com")
        let secret = ArtefactDigest(of: ClientSecret())
        try await kind.withStore { store async throws in
            #expect(try await store.replaceSecret(of: api.resource, with: secret) == false)
            for each in [api, other] { #expect(try await store.addResource(each) == .added) }
            #expect(try await store.replaceSecret(of: api.resource, with: secret))
            var changed = api
            changed.secret = secret
            #expect(try await store.resources() == [changed, other])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an API is deleted once`(_ kind: StoreKind) async throws {
        let api = try Self.api("https://a.example.com")
        try await kind.withStore { store async throws in
            #expect(try await store.addResource(api) == .added)
            #expect(try await store.removeResource(api.resource))
            #expect(try await store.removeResource(api.resource) == false)
            #expect(try await store.resource(authenticatingAs: api.clientID) == nil)
        }
    }
}
