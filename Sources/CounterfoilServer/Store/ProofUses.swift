public import CounterfoilProtocol
import CounterfoilTokens
import Crypto
public import Foundation

/// A DPoP proof in a request that is otherwise accepted (RFC 9449 §11.1).
public struct UsedProof: Sendable, Hashable {
    /// The digest of the key and the `jti` of the proof.
    public let digest: ArtefactDigest
    /// The thumbprint of the key.
    public let thumbprint: KeyThumbprint
    /// The time after which the proof is rejected for its age.
    public let expires: Date

    /// Creates a record of a proof.
    public init(digest: ArtefactDigest, thumbprint: KeyThumbprint, expires: Date) {
        self.digest = digest
        self.thumbprint = thumbprint
        self.expires = expires
    }
}

/// The outcome of ``ProofUseStore/noteProof(_:at:)``.
public enum NoteProofOutcome: Sendable, Hashable {
    /// The proof was not used before, and is noted.
    case new
    /// The proof was used before.
    case used
    /// The memory for proofs, or the part of it for one key, is full; nothing was noted.
    case full
}

/// The DPoP proofs that were used, so that each counts once at all servers with this store together.
///
/// A proof is kept until ``UsedProof/expires``. A store for one server can keep the proofs in its memory. A store for
/// several servers can lose the proofs of the last second in a crash of the database: in these minutes, the proofs have
/// little value without the token that they were sent with.
public protocol ProofUseStore: Sendable {
    /// Notes the use of a proof, unless it was used before.
    func noteProof(_ proof: UsedProof, at now: Date) async throws(StoreFault) -> NoteProofOutcome
}

/// The DPoP proofs that were used, in the memory of one process; bounded.
public final class ProcessProofs: ProofUseStore {
    private let memory = ProofReplayMemory()

    /// Creates an empty memory.
    public init() {}

    /// Notes the use of a proof, unless it was used before or the memory is full.
    public func noteProof(_ proof: UsedProof, at now: Date) async -> NoteProofOutcome {
        switch memory.note(proof.digest.bytes, of: proof.thumbprint, until: proof.expires, at: now) {
        case .new: .new
        case .used: .used
        case .full: .full
        }
    }
}
