// The store protocols document these methods.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CounterfoilServer
public import Foundation

extension FaultyStore: AttemptStore {
    public func admitAttempt(_ attempt: CountedAttempt, at now: Date) async throws(StoreFault) -> AttemptVerdict {
        try await enter(.admitAttempt)
        return try await store.admitAttempt(attempt, at: now)
    }

    public func settleAttempt(
        forgetting forgotten: [ArtefactDigest], withdrawing withdrawn: [ArtefactDigest], admittedAt time: Date
    ) async throws(StoreFault) {
        try await enter(.settleAttempt)
        try await store.settleAttempt(forgetting: forgotten, withdrawing: withdrawn, admittedAt: time)
    }
}

extension FaultyStore: ProofUseStore {
    public func noteProof(_ proof: UsedProof, at now: Date) async throws(StoreFault) -> NoteProofOutcome {
        try await enter(.noteProof)
        return try await store.noteProof(proof, at: now)
    }
}

extension FaultyStore: SetupStore {
    public func renewSetupNonce(
        _ nonce: SetupNonce, unlessStoredAfter limit: Date, at now: Date
    ) async throws(StoreFault) -> SetupNonce? {
        try await enter(.renewSetupNonce)
        return try await store.renewSetupNonce(nonce, unlessStoredAfter: limit, at: now)
    }

    public func setupNonce() async throws(StoreFault) -> SetupNonce? {
        try await enter(.setupNonce)
        return try await store.setupNonce()
    }
}

extension FaultyStore: IdentifierKeyStore {
    public func identifierKeys() async throws(StoreFault) -> [UInt8]? {
        try await enter(.identifierKeys)
        return try await store.identifierKeys()
    }

    public func identifierKeys(orStoring sealed: [UInt8]) async throws(StoreFault) -> [UInt8] {
        try await enter(.identifierKeys)
        return try await store.identifierKeys(orStoring: sealed)
    }

    public func replaceIdentifierKeys(_ former: [UInt8], with sealed: [UInt8]) async throws(StoreFault) {
        try await enter(.replaceIdentifierKeys)
        try await store.replaceIdentifierKeys(former, with: sealed)
    }
}
