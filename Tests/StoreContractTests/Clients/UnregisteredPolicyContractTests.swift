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

    @Test(arguments: StoreKind.allCases)
    func `a host is refused once, and nothing else changes`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let event = AuditEvent(at: World.now, .setting, detail: "refused")
            for (name, isNew) in [("a.example.com", true), ("a.example.com", false), ("b.example.com", true)] {
                let host = try #require(Self.hosts(name).first)
                #expect(try await store.refuseHost(host, recording: [event]) == isNew)
            }
            var policy = try await store.unregisteredClientPolicy()
            let refused = try Self.hosts("a.example.com", "b.example.com")
            #expect(policy == UnregisteredClientPolicy(refusedHosts: refused, revision: 2))
            #expect(try await store.audit(AuditQuery()).count == 2)
            // An update that was based on an earlier read is refused.
            policy.revision = 1
            #expect(try await store.updateUnregisteredClientPolicy(policy) == .changedMeanwhile)
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
