import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import Testing

@Suite("The contract: APIs")
struct ResourceContractTests {
    private static func api(
        _ uri: String, scope: Scope = Scope([.openID]), clientID: ClientIdentifier? = nil,
        tokenType: AccessTokenType = .atJWT, requiresBoundTokens: Bool = false, secret: ClientSecret = ClientSecret()
    ) throws -> RegisteredResource {
        RegisteredResource(
            resource: try Resource(uri), clientID: try #require(clientID ?? RegisteredResource.newClientID()),
            name: "Photo library · 爱达", scope: scope, tokenType: tokenType,
            requiresBoundTokens: requiresBoundTokens, secret: ArtefactDigest(of: secret), createdAt: World.now)
    }

    // An API is found by its resource indicator and by its client identifier.
    @Test(arguments: StoreKind.allCases)
    func `an API is read back by its indicator and by its identifier`(_ kind: StoreKind) async throws {
        let first = try Self.api("https://b.example.com/v1?a=b", scope: Scope([.openID, .email]))
        let second = try Self.api("https://a.example.com", scope: Scope([]), tokenType: .jwt, requiresBoundTokens: true)
        try await kind.withStore { store async throws in
            #expect(try await store.resources().isEmpty)
            #expect(try await store.addResource(first) == .added)
            #expect(try await store.addResource(second) == .added)
            #expect(try await store.resources() == [second, first])
            #expect(try await store.resource(first.resource) == first)
            #expect(try await store.resource(authenticatingAs: second.clientID) == second)
            #expect(try await store.resource(try Resource("https://a.example.com//")) == nil)
            #expect(try await store.resource(try Resource("https://b.example.com/v1?a=B")) == nil)
            #expect(try await store.resource(authenticatingAs: try #require(ClientIdentifier("api_none"))) == nil)
        }
    }

    // No store refuses what another one takes. Random characters cannot be compressed.
    @Test(arguments: StoreKind.allCases)
    func `the longest indicator can be registered, and no longer one exists`(_ kind: StoreKind) async throws {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        let start = "https://a.example.com/"
        let rest = (start.utf8.count..<Resource.byteLimit).map { _ in letters.randomElement() ?? "a" }
        let longest = start + String(rest)
        #expect(throws: Resource.Refusal.tooLong) { try Resource(longest + "a") }
        let api = try Self.api(longest)
        try await kind.withStore { store async throws in
            #expect(try await store.addResource(api) == .added)
            #expect(try await store.resource(try Resource(longest)) == api)
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

    // RFC 3986 §6.2.2.1 and §6.2.3: the spelling of the registration is kept, and any equal one finds it.
    @Test(arguments: StoreKind.allCases)
    func `an API is found, changed and deleted under every equal spelling`(_ kind: StoreKind) async throws {
        let spellings = ["https://a.example.com", "https://A.example.com/", "HTTPS://a.example.com:443"]
        try await kind.withStore { store async throws in
            for registered in spellings {
                let api = try Self.api(registered)
                #expect(try await store.addResource(api) == .added)
                for spelling in spellings {
                    let found = try await store.resource(try Resource(spelling))
                    #expect(found?.resource.rawValue == registered)
                    #expect(try await store.addResource(try Self.api(spelling)) == .exists)
                    #expect(
                        try await store.replaceSecret(
                            of: try Resource(spelling), with: ArtefactDigest(of: ClientSecret())))
                }
                #expect(try await store.resources().map(\.resource.rawValue) == [registered])
                #expect(try await store.removeResource(try Resource("https://a.example.com/")))
                #expect(try await store.resource(try Resource(registered)) == nil)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the name, scopes and token type of an API change, and nothing else`(_ kind: StoreKind) async throws {
        let former = try Self.api("https://a.example.com/")
        let other = try Self.api("https://b.example.com")
        var changed = former
        changed.name = "Albums"
        changed.scope = Scope([.openID, .email])
        changed.tokenType = .jwt
        let unknown = Scope([try #require(Scope.Token("photos.read"))])
        var excessive = changed
        excessive.scope = unknown
        let (next, refused) = (changed, excessive)
        try await kind.withStore { store async throws in
            #expect(try await store.updateResource(next, from: former) == .notFound)
            for api in [former, other] { #expect(try await store.addResource(api) == .added) }
            #expect(try await store.updateResource(refused, from: former) == .unknownScopes(unknown))
            #expect(try await store.resources() == [former, other])
            #expect(try await store.updateResource(next, from: former) == .updated)
            #expect(try await store.resources() == [next, other])
            #expect(try await store.resource(authenticatingAs: former.clientID) == next)
            #expect(try await store.updateResource(former, from: former) == .changedMeanwhile)
            #expect(try await store.resource(former.resource) == next)
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
