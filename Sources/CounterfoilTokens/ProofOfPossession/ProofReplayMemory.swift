package import CounterfoilProtocol
import Crypto

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The DPoP proofs that were used, so that each counts once (RFC 9449 §11.1); bounded in memory.
///
/// A proof is kept until it would be rejected for its age. Until then, no other proof of its key with the same `jti`
/// counts, whenever it was issued. If the memory is full, further proofs are refused: if it
/// forgot proofs instead, an attacker could fill it to use a stolen proof again. One key can use only an eighth of the
/// memory, so that no single client can fill it.
package final class ProofReplayMemory: Sendable {
    /// The outcome of ``note(_:at:)``.
    package enum Outcome: Sendable, Hashable {
        /// The proof was not used before, and is noted.
        case new
        /// The proof was used before.
        case used
        /// The memory, or the part of it for one key, is full; nothing was noted.
        case full
    }

    private struct State {
        /// The proofs by the minute after which they are forgotten.
        var proofs: [Int: Set<[UInt8]>] = [:]
        /// The number of proofs of each key, by the same minute.
        var counts: [Int: [KeyThumbprint: Int]] = [:]
        var total = 0
    }

    /// The number of proofs that one process keeps unless it is told otherwise.
    package static let standardCapacity = 200_000

    private let capacity: Int
    private let state = Mutex(State())

    /// Creates a memory for a maximum number of proofs; each needs up to 300 bytes, the most if each has its own key.
    package init(capacity: Int = standardCapacity) { self.capacity = max(8, capacity) }

    /// Notes a proof, unless it was used before or the memory is full.
    package func note(_ proof: VerifiedDPoPProof, at now: Date) -> Outcome {
        note(Array(proof.digest), of: proof.thumbprint, until: proof.expires, at: now)
    }

    /// Notes a proof by its digest, unless it was used before or the memory is full.
    package func note(
        _ digest: [UInt8], of thumbprint: KeyThumbprint, until expires: Date, at now: Date
    ) -> Outcome {
        let minute = Int((expires.timeIntervalSince1970 / 60).rounded(.up))
        return state.withLock { state in
            Self.forgetExpired(in: &state, at: now)
            // A second proof with the same `jti` can have another `iat`, and then expires in another minute. There are
            // about a dozen minutes, because a proof expires at most ten minutes after its use.
            guard !state.proofs.values.contains(where: { $0.contains(digest) }) else { return .used }
            let ofKey = state.counts.values.reduce(0) { $0 + ($1[thumbprint] ?? 0) }
            guard state.total < capacity, ofKey < capacity / 8 else { return .full }
            state.proofs[minute, default: []].insert(digest)
            state.counts[minute, default: [:]][thumbprint, default: 0] += 1
            state.total += 1
            return .new
        }
    }

    private static func forgetExpired(in state: inout State, at now: Date) {
        let current = Int(now.timeIntervalSince1970 / 60)
        for minute in state.proofs.keys where minute < current {
            state.total -= state.proofs[minute]?.count ?? 0
            state.proofs[minute] = nil
            state.counts[minute] = nil
        }
    }
}
