public import CounterfoilServer
import CounterfoilTokens
import Foundation
import Synchronization

extension MemoryStore: SigningKeyStore {
    /// Every key, oldest first.
    public func signingKeys() async throws(StoreFault) -> [SealedSigningKey] {
        state.withLock { state in state.signingKeys.sorted { $0.createdAt < $1.createdAt } }
    }

    /// Keeps the first key of an algorithm, unless there is one already.
    public func addFirstSigningKey(_ key: SealedSigningKey) async throws(StoreFault) -> AddSigningKeyOutcome {
        state.withLock { state in
            guard !state.signingKeys.contains(where: { $0.algorithm == key.algorithm }) else { return .algorithmHasKey }
            state.signingKeys.append(key)
            return .added
        }
    }
}
