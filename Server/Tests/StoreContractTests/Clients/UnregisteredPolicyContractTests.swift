import CounterfoilProtocol
import CounterfoilServer
import CounterfoilServerTesting
import CounterfoilStore
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
            for (name, outcome) in [
                ("a.example.com", RefuseHostOutcome.refused), ("a.example.com", .alreadyRefused),
                ("b.example.com", .refused),
            ] {
                let host = try #require(Self.hosts(name).first)
                #expect(try await store.refuseHost(host, recording: [event]) == outcome)
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

    // With more hosts, no later change of the policy would be accepted.
    @Test(arguments: StoreKind.allCases)
    func `no more hosts are refused than a policy can contain`(_ kind: StoreKind) async throws {
        try await kind.withStore { store async throws in
            let event = AuditEvent(at: World.now, .setting, detail: "refused")
            let hosts = try (0..<UnregisteredClientPolicy.hostLimit - 1).map { number in
                try #require(HostPattern("host\(number).example"))
            }
            _ = try await store.updateUnregisteredClientPolicy(UnregisteredClientPolicy(refusedHosts: hosts))
            let last = try #require(HostPattern("last.example"))
            #expect(try await store.refuseHost(last, recording: [event]) == .refused)
            let further = try #require(HostPattern("further.example"))
            #expect(try await store.refuseHost(further, recording: [event]) == .tooMany)
            #expect(try await store.refuseHost(last, recording: [event]) == .alreadyRefused)
            #expect(try await store.unregisteredClientPolicy().refusedHosts == hosts + [last])
            #expect(try await store.audit(AuditQuery()).count == 1)
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
