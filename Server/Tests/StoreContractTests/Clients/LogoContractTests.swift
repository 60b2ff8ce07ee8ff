import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
import Testing

@Suite("The contract: logos")
struct LogoContractTests {
    @Test(arguments: StoreKind.allCases, Logo.Format.allCases)
    func `a logo is read back byte for byte, and the client has its identifier`(
        _ kind: StoreKind,
        _ format: Logo.Format
    ) async throws {
        try await kind.withStore { store async throws in
            let (client, logo) = (try RegisteredClient.named("app"), Logo.example(format: format))
            #expect(try await store.addClient(client, logo: logo, secret: nil, ownerLimit: .max) == .added)
            var expected = client
            expected.presentation.logo = logo.id
            #expect(try await store.client(client.id) == expected)
            #expect(try await store.logo(logo.id) == logo)
            #expect(try await store.logo(Logo.example(2).id) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a client never refers to a logo that is not stored`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            var client = try RegisteredClient.named("app")
            client.presentation.logo = Logo.example().id
            #expect(try await world.store.addClient(client) == .added)
            #expect(try await world.store.client(client.id)?.presentation.logo == nil)
            #expect(try await world.store.updateClient(client, logo: .keep) == .updated)
            #expect(try await world.store.client(client.id)?.presentation.logo == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a logo is kept, replaced, and deleted`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            var client = world.client
            let (first, second) = (Logo.example(1), Logo.example(2))
            let steps: [(LogoChange, LogoIdentifier?)] = [
                (.replace(first), first.id), (.keep, first.id), (.replace(first), first.id),
                (.replace(second), second.id),
                (.remove, nil), (.remove, nil),
            ]
            for (change, logo) in steps {
                #expect(try await world.store.updateClient(client, logo: change) == .updated)
                client = try #require(try await world.store.client(client.id))
                #expect(client.presentation.logo == logo)
                for kept in [first, second] {
                    #expect(try await world.store.logo(kept.id) == (kept.id == logo ? kept : nil))
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a refused change leaves the logos unchanged`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (first, second) = (Logo.example(1), Logo.example(2))
            #expect(try await world.store.updateClient(world.client, logo: .replace(first)) == .updated)
            #expect(try await world.store.updateClient(world.client, logo: .replace(second)) == .changedMeanwhile)
            #expect(try await world.store.client(world.client.id)?.presentation.logo == first.id)
            #expect(try await world.store.logo(first.id) == first)
            #expect(try await world.store.logo(second.id) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a logo of several clients is kept until none uses it`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            let (store, logo) = (world.store, Logo.example())
            let other = try RegisteredClient.named("other")
            #expect(try await store.addClient(other, logo: logo, secret: nil, ownerLimit: .max) == .added)
            #expect(try await store.updateClient(world.client, logo: .replace(logo)) == .updated)
            #expect(try await store.updateBranding(Branding(), logo: .replace(logo)) == .updated)

            #expect(try await store.removeClient(other.id))
            #expect(try await store.logo(logo.id) == logo)
            let client = try #require(try await store.client(world.client.id))
            #expect(try await store.updateClient(client, logo: .remove) == .updated)
            #expect(try await store.logo(logo.id) == logo)
            #expect(try await store.updateBranding(try await store.branding(), logo: .remove) == .updated)
            #expect(try await store.logo(logo.id) == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `deleting a client deletes its logo`(_ kind: StoreKind) async throws {
        try await kind.withWorld { world async throws in
            #expect(try await world.store.updateClient(world.client, logo: .replace(.example())) == .updated)
            #expect(try await world.store.removeClient(world.client.id))
            #expect(try await world.store.logo(Logo.example().id) == nil)
        }
    }
}
