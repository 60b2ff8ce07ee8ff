public import CounterfoilPlatform
@_spi(Counterfoil) import CounterfoilProtocol

/// The DPoP proofs that were used, so that each counts once (RFC 9449 §11.1); bounded in memory.
///
/// A proof is kept until it would be rejected for its age. Until then, no other proof of its key with the same `jti`
/// counts, whenever it was issued. If the memory is full, further proofs are refused: if it
/// forgot proofs instead, an attacker could fill it to use a stolen proof again. Each proof counts in shares of the
/// memory, such as that of its user, so that no single client can fill it.
@_spi(Counterfoil) public final class ProofReplayMemory: Sendable {
    /// The outcome of ``note(_:in:until:at:)``.
    public enum Outcome: Sendable, Hashable {
        /// The proof was not used before, and is noted.
        case new
        /// The proof was used before.
        case used
        /// The memory, or a share of it, is full; nothing was noted.
        case full
    }

    private struct State {
        /// The proofs by the minute after which they are forgotten.
        var proofs: [Int: Set<[UInt8]>] = [:]
        var space: ProofSpace
    }

    /// The number of proofs that one process keeps unless it is told otherwise.
    public static let standardCapacity = 200_000

    private let state: Mutex<State>

    /// Creates a memory for a maximum number of proofs; each needs up to 400 bytes, the most if each has shares of its
    /// own.
    public init(capacity: Int = standardCapacity) {
        state = Mutex(State(space: ProofSpace(capacity: capacity)))
    }

    /// Notes a proof by its digest, unless it was used before, or the memory or one of the shares is full.
    public func note(
        _ digest: [UInt8], in shares: [ProofSpace.Share], until expires: Date, at now: Date
    ) -> Outcome {
        let minute = ProofSpace.minute(of: expires)
        return state.withLock { state in
            let current = ProofSpace.current(at: now)
            for minute in state.proofs.keys where minute < current { state.proofs[minute] = nil }
            // A second proof with the same `jti` can have another `iat`, and then expires in another minute. There are
            // about a dozen minutes, because a proof expires at most ten minutes after its use.
            guard !state.proofs.values.contains(where: { $0.contains(digest) }) else { return .used }
            guard state.space.take(in: shares, until: expires, at: now) else { return .full }
            state.proofs[minute, default: []].insert(digest)
            return .new
        }
    }
}
