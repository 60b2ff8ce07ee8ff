// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer

extension MemoryStore: RegistryStore {
    public func registryRevision() async throws(StoreFault) -> RegistryRevision {
        state.withLock { RegistryRevision($0.registryRevision) }
    }

    public func associatedClients() async throws(StoreFault) -> [RegisteredClient] {
        try await clients().filter { client in
            client.type == .native && client.policy.isClaimedHTTPSVerified
                && !(client.appleApps.isEmpty && client.androidApps.isEmpty)
        }
    }

    public func longestRefreshIdleLifetime() async throws(StoreFault) -> Int? {
        try await clients().compactMap(\.policy.refreshTokenLife.idleLifetime).max()
    }
}
