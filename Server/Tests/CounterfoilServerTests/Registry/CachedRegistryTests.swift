import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import CounterfoilTokens
import Foundation
import HTTPTypes
import Testing

/// The cache of the registry above the store, as requests use it.
struct CachedRegistryTests {
    private let store = TestStore()
    private let test: TestServer

    init() async throws { test = try await TestServer(store: store) }

    /// The reads of the registry that a cache above the store makes.
    private static let reads: [StoreOperation] = [
        .client, .clientSecrets, .resource, .resources, .scopes, .unregisteredClientPolicy, .branding,
        .signingKeys, .associatedClients, .longestRefreshIdleLifetime,
    ]

    private var readCounts: [Int] { Self.reads.map(store.calls(of:)) }

    @Test func `a second flow reads the registry from the cache`() async throws {
        func flow() async throws {
            var browser = test.browser()
            let attempt = Attempt(test, for: "openid photos.read")
            let code = try await attempt.authorize(with: &browser).code
            let tokens = try await test.redeem(attempt.exchange(code)).tokenResponse
            let info = await test.send(
                .get, to: .userInfo, fields: [.authorization: "Bearer \(tokens.accessToken.exposed)"])
            #expect(info.status == .ok)
            #expect(await test.send(.get, to: .metadata).status == .ok)
        }
        try await flow()
        let before = readCounts
        try await flow()
        #expect(readCounts == before)
    }

    @Test func `a change by another process counts from the next request`() async throws {
        let service = try await test.addService()
        _ = try await service.token()
        let secret = try #require(try await store.clientSecrets(of: service.client.id).first)
        #expect(try await store.removeClientSecret(secret.digest, of: service.client.id))
        let form = FormParameters(["grant_type": "client_credentials"])
        #expect(await test.redeem(form, fields: service.fields).status == .unauthorized)

        var browser = test.browser()
        #expect(try await browser.open(Attempt(test).url).status == .ok)
        #expect(try await store.updateBranding(Branding(siteName: "Renamed"), logo: .keep) == .updated)
        #expect(try await browser.open(Attempt(test).url).frame?.site.name == "Renamed")
        #expect(try await store.removeClient(test.lightbox.id))
        #expect(try await browser.open(Attempt(test).url).status != .ok)
    }

    // The client is in the cache, but it may have been deleted.
    @Test func `nothing is answered from the cache while the revision cannot be read`() async throws {
        let attempt = Attempt(test)
        var browser = test.browser()
        let code = try await attempt.authorize(with: &browser).code
        store.fail(.registryRevision)
        #expect(await test.redeem(attempt.exchange(code)).status == .serviceUnavailable)
        #expect(try await browser.open(attempt.url).status == .serviceUnavailable)
        #expect(await test.send(.get, to: .appleAssociation).status == .serviceUnavailable)
        store.recover()
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
    }

    @Test func `a token request reads the revision once, and a change before it counts`() async throws {
        let service = try await test.addService()
        _ = try await service.token()
        let before = store.calls(of: .registryRevision)
        _ = try await service.token()
        #expect(store.calls(of: .registryRevision) == before + 1)
        let attempt = Attempt(test)
        let code = try await attempt.authorize().code
        let redeemed = store.calls(of: .registryRevision)
        #expect(await test.redeem(attempt.exchange(code)).status == .ok)
        #expect(store.calls(of: .registryRevision) == redeemed + 1)
        #expect(try await store.removeClient(service.client.id))
        #expect(
            await test.redeem(FormParameters(["grant_type": "client_credentials"]), fields: service.fields).status
                == .unauthorized)
    }

    @Test func `a record that is missing is cached until it is added`() async throws {
        let registry = CachedRegistry(store)
        let client = try RegisteredClient.named("app-late")
        let before = store.calls(of: .client)
        for _ in 1...3 { #expect(try await registry.fresh().client(client.id) == nil) }
        #expect(store.calls(of: .client) == before + 1)
        #expect(try await store.addClient(client) == .added)
        #expect(try await registry.fresh().client(client.id) == client)
    }

    @Test func `several lookups at one revision read it once, and the next one reads it again`() async throws {
        let registry = CachedRegistry(store)
        let before = store.calls(of: .registryRevision)
        let current = try await registry.fresh()
        _ = try await (current.client(test.lightbox.id), current.scopes(), current.unregisteredClientPolicy())
        #expect(store.calls(of: .registryRevision) == before + 1)
        #expect(try await store.removeClient(test.lightbox.id))
        #expect(try await current.client(test.lightbox.id) == test.lightbox)
        #expect(try await registry.fresh().client(test.lightbox.id) == nil)
    }

    // Strangers choose the identifiers that are looked up.
    @Test func `the number of cached records is limited`() async throws {
        let registry = CachedRegistry(store)
        let before = store.calls(of: .client)
        for number in 0...1000 {
            _ = try await registry.fresh().client(try #require(ClientIdentifier("app-\(number)")))
        }
        #expect(store.calls(of: .client) == before + 1001)
        _ = try await registry.fresh().client(try #require(ClientIdentifier("app-1000")))
        #expect(store.calls(of: .client) == before + 1001)
        _ = try await registry.fresh().client(try #require(ClientIdentifier("app-0")))
        #expect(store.calls(of: .client) == before + 1002)
    }

    // MARK: - Association files

    @Test func `the association files are created once for each revision`() async throws {
        let test = test
        func files() async -> Set<HTTPResponse.Status> {
            await withTaskGroup(of: HTTPResponse.Status.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        await test.send(
                            .get, to: number.isMultiple(of: 2) ? .appleAssociation : .androidAssociation
                        ).status
                    }
                }
                return await group.reduce(into: []) { $0.insert($1) }
            }
        }
        #expect(await files() == [.ok])
        #expect(store.calls(of: .associatedClients) == 1)
        #expect(await files() == [.ok])
        #expect(store.calls(of: .associatedClients) == 1)
        #expect(try await store.addClient(try .named("app-second")) == .added)
        #expect(await files() == [.ok])
        #expect(store.calls(of: .associatedClients) == 2)
    }

    @Test func `association files that cannot be read are read again by the next request`() async throws {
        store.fail(.associatedClients)
        #expect(await test.send(.get, to: .appleAssociation).status == .serviceUnavailable)
        store.recover()
        #expect(await test.send(.get, to: .appleAssociation).status == .ok)
    }

    @Test(arguments: Endpoint.protocolEndpoints)
    func `no request without a session reads every client`(_ endpoint: Endpoint) async throws {
        for method in [HTTPRequest.Method.get, .post, .put, .delete, .options] {
            _ = await test.send(
                method, to: endpoint, query: "client_id=app_lightbox&response_type=code",
                fields: [
                    .contentType: "application/x-www-form-urlencoded", .origin: "https://stranger.example",
                    .accessControlRequestMethod: "POST",
                ],
                body: Array("client_id=app_lightbox&grant_type=client_credentials".utf8))
        }
        #expect(store.calls(of: .clients) == 0)
    }
}
