import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import TestSupport
import Testing

@Suite("The contract: the policy for clients that no person registered")
struct UnregisteredPolicyContractTests {
    @Test(arguments: StoreKind.allCases)
    func `the policy accepts nothing at first`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(try await store.unregisteredClientPolicy() == UnregisteredClientPolicy())
            #expect(try await store.unregisteredClientPolicy().kinds.isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the policy is read back as it was set`(_ kind: StoreKind) async throws {
        try await kind.withStorage { storage async throws in
            var policy = UnregisteredClientPolicy(
                kinds: [.document, .registration], allowedHosts: try Self.hosts("*.example.com", "app.example"),
                refusedHosts: try Self.hosts("bad.example.com"), defaultScope: Scope([.openID]),
                maximumScope: Scope([.openID, .email]), resources: [try Resource("https://api.example.com")],
                refreshTokens: .never, accessTokenLifetime: 600, refreshIdleLifetime: 3600, refreshLifetime: 86_400,
                approvers: .administrators, requiresInitialAccessToken: true)
            #expect(try await storage.store.updateUnregisteredClientPolicy(policy) == .updated)
            policy.revision = 1
            #expect(try await storage.store.unregisteredClientPolicy() == policy)
            // An empty limit is not the same as none.
            policy.maximumScope = Scope()
            policy.resources = []
            #expect(try await storage.store.updateUnregisteredClientPolicy(policy) == .updated)
            try await storage.reopen()
            let kept = try await storage.store.unregisteredClientPolicy()
            #expect(kept.maximumScope == Scope() && kept.resources == [] && kept.revision == 2)
        }
    }

    // Two administrators: the second one sees what the first one changed.
    @Test(arguments: StoreKind.allCases)
    func `a change that is based on an earlier policy is refused`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            #expect(
                try await store.updateUnregisteredClientPolicy(UnregisteredClientPolicy(kinds: [.document])) == .updated
            )
            let late = UnregisteredClientPolicy(kinds: [.registration])
            #expect(try await store.updateUnregisteredClientPolicy(late) == .changedMeanwhile)
            #expect(try await store.unregisteredClientPolicy().kinds == [.document])
        }
    }

    private static func hosts(_ names: String...) throws -> [HostPattern] {
        try names.map { try #require(HostPattern($0)) }
    }
}
