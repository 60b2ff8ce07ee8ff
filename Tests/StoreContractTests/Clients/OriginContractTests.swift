import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import Foundation
import Testing

@Suite("The contract: origins")
struct OriginContractTests {
    private static func singlePage(_ id: String, _ origins: [String]) throws -> RegisteredClient {
        RegisteredClient(
            id: try #require(ClientIdentifier(id)), type: .singlePage,
            presentation: ClientPresentation(name: "Album"),
            redirectURIs: [try RedirectURI("https://app.example.com/callback")], scope: Scope([.openID]),
            origins: try origins.map { try #require(WebOrigin($0)) }, policy: .standard(for: .singlePage),
            createdAt: World.now)
    }

    // Only complete origins match, of any client, and the result is current.
    @Test(arguments: StoreKind.allCases)
    func `an origin is registered while a client has it`(_ kind: StoreKind) async throws {
        let origin = try #require(WebOrigin("https://app.example.com"))
        let others = try [
            "https://xapp.example.com", "https://app.example.co", "http://localhost", "https://app.example.com:8443",
        ].map { try #require(WebOrigin($0)) }
        try await kind.withWorld { world async throws in
            let store = world.store
            #expect(try await store.isRegistered(origin) == false)
            let first = try Self.singlePage(
                "app-1", ["http://localhost:5173", "https://app.example.com", "https://b.example"])
            #expect(try await store.addClient(first) == .added)
            #expect(try await store.addClient(try Self.singlePage("app-2", ["https://app.example.com"])) == .added)
            #expect(try await store.isRegistered(origin))
            #expect(try await store.isRegistered(try #require(WebOrigin("https://b.example"))))
            for other in others { #expect(try await store.isRegistered(other) == false) }

            var changed = first
            changed.origins = []
            #expect(try await store.updateClient(changed, logo: .keep) == .updated)
            #expect(try await store.isRegistered(origin))
            #expect(try await store.isRegistered(try #require(WebOrigin("https://b.example"))) == false)
            try await store.removeClient(try #require(ClientIdentifier("app-2")))
            #expect(try await store.isRegistered(origin) == false)
        }
    }
}
