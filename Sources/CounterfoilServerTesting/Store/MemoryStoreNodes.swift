// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CounterfoilProtocol
public import CounterfoilServer
public import Foundation

extension MemoryStore: AttemptStore {
    public func admitAttempt(_ attempt: CountedAttempt, at now: Date) async throws(StoreFault) -> AttemptVerdict {
        await attempts.admitAttempt(attempt, at: now)
    }

    public func settleAttempt(
        forgetting forgotten: [ArtefactDigest], withdrawing withdrawn: [ArtefactDigest], admittedAt time: Date
    ) async throws(StoreFault) {
        await attempts.settleAttempt(forgetting: forgotten, withdrawing: withdrawn, admittedAt: time)
    }
}

extension MemoryStore: ProofUseStore {
    public func noteProof(_ proof: UsedProof, at now: Date) async throws(StoreFault) -> NoteProofOutcome {
        await proofs.noteProof(proof, at: now)
    }
}

extension MemoryStore: SetupStore {
    public func renewSetupNonce(
        _ nonce: SetupNonce, unlessStoredAfter limit: Date, at now: Date
    ) async throws(StoreFault) -> SetupNonce? {
        state.withLock { state in
            guard !state.people.values.contains(where: \.isAdministrator) else { return nil }
            if let stored = state.setupNonce, stored.at > limit, stored.at <= now { return stored.nonce }
            state.setupNonce = (nonce, now)
            return nonce
        }
    }

    public func setupNonce() async throws(StoreFault) -> SetupNonce? {
        state.withLock { state in
            state.people.values.contains(where: \.isAdministrator) ? nil : state.setupNonce?.nonce
        }
    }
}

extension MemoryStore: IdentifierKeyStore {
    public func identifierKeys() async throws(StoreFault) -> [UInt8]? { state.withLock { $0.identifierKeys } }

    public func identifierKeys(orStoring sealed: [UInt8]) async throws(StoreFault) -> [UInt8] {
        state.withLock { state in
            let stored = state.identifierKeys ?? sealed
            state.identifierKeys = stored
            return stored
        }
    }

    public func replaceIdentifierKeys(_ former: [UInt8], with sealed: [UInt8]) async throws(StoreFault) {
        state.withLock { state in
            if state.identifierKeys == former { state.identifierKeys = sealed }
        }
    }
}
