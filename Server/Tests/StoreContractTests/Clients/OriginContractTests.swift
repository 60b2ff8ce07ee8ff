import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Foundation
import Testing

@Suite("The contract: origins")
struct OriginContractTests {
    private static func singlePage(_ id: String, _ origins: [String]) throws -> RegisteredClient {
        RegisteredClient(
            id: try #require(ClientIdentifier(id)), type: .singlePage,
            presentation: ClientPresentation(name: "Album"),
            redirectURIs: [try RedirectURI("https://app.example.com/callback")], scope: Scope([.openID]),
            origins: try origins.map { try #require(RegisteredOrigin($0)) }, policy: .standard(for: .singlePage),
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

    // RFC 8252 §7.3
    @Test(arguments: StoreKind.allCases)
    func `an origin with any port covers the http origins of its host`(_ kind: StoreKind) async throws {
        func origins(_ texts: String...) throws -> [WebOrigin] { try texts.map { try #require(WebOrigin($0)) } }
        let covered = try origins("http://localhost", "http://localhost:5173", "http://[::1]:3000")
        let others = try origins(
            "https://localhost:5173", "http://127.0.0.1:5173", "https://localhost", "https://localhost.example")
        try await kind.withWorld { world async throws in
            let registered = ["https://b.example", "http://localhost:*", "http://[::1]:*"]
            #expect(try await world.store.addClient(try Self.singlePage("app-1", registered)) == .added)
            for origin in covered { #expect(try await world.store.isRegistered(origin)) }
            for origin in others { #expect(try await world.store.isRegistered(origin) == false) }
            let id = try #require(ClientIdentifier("app-1"))
            #expect(try await world.store.client(id)?.origins.map(\.rawValue) == registered)
        }
    }
}
