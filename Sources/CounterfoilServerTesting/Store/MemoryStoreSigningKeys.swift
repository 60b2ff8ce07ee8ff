// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer
public import CounterfoilTokens
public import Foundation

extension MemoryStore: SigningKeyStore {
    public func signingKeys() async throws(StoreFault) -> [SealedSigningKey] {
        state.withLock { state in state.signingKeys.sorted { $0.createdAt < $1.createdAt } }
    }

    public func addFirstSigningKey(
        _ key: SealedSigningKey, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSigningKeyOutcome {
        commit(recording: events) { state in
            guard !state.signingKeys.contains(where: { $0.algorithm == key.algorithm }) else { return .algorithmHasKey }
            state.signingKeys.append(key)
            return .added
        }
    }

    public func addSigningKey(
        _ key: SealedSigningKey, replacing former: KeyIdentifier, recording events: [AuditEvent]
    ) async throws(StoreFault) -> AddSigningKeyOutcome {
        commit(recording: events) { state in
            let index = state.signingKeys.firstIndex {
                $0.id == former && $0.algorithm == key.algorithm && $0.replacedAt == nil
            }
            guard let index else { return .algorithmHasKey }
            state.signingKeys[index].replacedAt = key.signsFrom
            for other in state.signingKeys.indices where state.signingKeys[other].algorithm == key.algorithm {
                if let end = state.signingKeys[other].replacedAt, end > key.signsFrom {
                    state.signingKeys[other].replacedAt = key.signsFrom
                }
            }
            state.signingKeys.append(key)
            return .added
        }
    }

    public func removeSigningKey(_ id: KeyIdentifier, recording events: [AuditEvent]) async throws(StoreFault) -> Bool {
        commit(recording: events) { state in
            guard let index = state.signingKeys.firstIndex(where: { $0.id == id && $0.replacedAt != nil }) else {
                return false
            }
            state.signingKeys.remove(at: index)
            return true
        }
    }

    @discardableResult
    public func removeSigningKeys(
        replacedBefore time: Date, recording events: @escaping @Sendable (Int) -> [AuditEvent]
    ) async throws(StoreFault) -> Int {
        state.withLock { state in
            let kept = state.signingKeys.filter { key in key.replacedAt.map { $0 >= time } ?? true }
            let removed = state.signingKeys.count - kept.count
            if removed > 0 {
                state.signingKeys = kept
                state.append(events(removed))
            }
            return removed
        }
    }
}
