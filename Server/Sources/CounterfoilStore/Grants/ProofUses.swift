@_spi(Counterfoil) public import CounterfoilProtocol
@_spi(Counterfoil) package import CounterfoilTokens
import Crypto
public import Foundation

/// The client or user on whose behalf a DPoP proof is used, and which can take a share of the memory for proofs.
public struct ProofHolder: Sendable, Hashable {
    package let shares: [ProofSpace.Share]

    private init(_ shares: [ProofSpace.Share]) { self.shares = shares }

    /// The holder of a key, of which nothing else is known.
    public static func key(_ thumbprint: KeyThumbprint) -> ProofHolder { ProofHolder([.key(thumbprint)]) }

    /// The user of a grant.
    package static func user(_ user: UserIdentifier) -> ProofHolder {
        ProofHolder([ProofSpace.Share("user \(user.rawValue)", divisor: 8)])
    }

    /// A client that has authenticated, as the user who registered it: one user can register many.
    package static func client(_ client: RegisteredClient) -> ProofHolder {
        let name = client.owner.map { "owner \($0.rawValue)" } ?? "client \(client.id.rawValue)"
        return ProofHolder([ProofSpace.Share(name, divisor: 8)])
    }

    /// The sender of a request that needs no grant.
    ///
    /// All of them together can take half of the memory, so that the other half is left for codes and tokens.
    package func withoutGrant() -> ProofHolder {
        ProofHolder(shares + [ProofSpace.Share("without a grant", divisor: 2)])
    }

    /// A client that has not authenticated, or that anyone can register, at a source.
    package static func anyone(at source: CountedSource?, with thumbprint: KeyThumbprint) -> ProofHolder {
        source.map(anyone(at:)) ?? .key(thumbprint)
    }

    /// A client that has authenticated with a key, at a source.
    ///
    /// All clients that no person registered can take half of the space together, because anyone can register many.
    package static func client(_ client: RegisteredClient, at source: CountedSource?) -> ProofHolder {
        guard client.isUnregistered else { return .client(client) }
        let one = source.map(anyone(at:)) ?? .client(client)
        return ProofHolder(one.shares + [ProofSpace.Share("unregistered", divisor: 2)])
    }

    private static func anyone(at source: CountedSource) -> ProofHolder {
        ProofHolder(
            source.networks.map { ProofSpace.Share("source \($0.name)", divisor: sourceDivisor / $0.limit(1)) })
    }

    private static let sourceDivisor = 32
}

/// A DPoP proof in a request that is otherwise accepted (RFC 9449 §11.1).
public struct UsedProof: Sendable, Hashable {
    /// The digest of the key and the `jti` of the proof.
    public let digest: ArtefactDigest
    /// The client or user whose share of the memory the proof takes.
    public let holder: ProofHolder
    /// The time after which the proof is rejected for its age.
    public let expires: Date

    /// Creates a record of a proof.
    public init(digest: ArtefactDigest, holder: ProofHolder, expires: Date) {
        self.digest = digest
        self.holder = holder
        self.expires = expires
    }
}

/// The outcome of ``ProofUseStore/noteProof(_:at:)``.
public enum NoteProofOutcome: Sendable, Hashable {
    /// The proof was not used before, and is noted.
    case new
    /// The proof was used before.
    case used
    /// The memory for proofs, or a share of it that the holder has, is full; nothing was noted.
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
    private let memory: ProofReplayMemory

    /// Creates an empty memory.
    public convenience init() { self.init(capacity: ProofReplayMemory.standardCapacity) }

    /// Creates an empty memory for a maximum number of proofs.
    package init(capacity: Int) { memory = ProofReplayMemory(capacity: capacity) }

    /// Notes the use of a proof, unless it was used before or the memory is full.
    public func noteProof(_ proof: UsedProof, at now: Date) async -> NoteProofOutcome {
        switch memory.note(proof.digest.bytes, in: proof.holder.shares, until: proof.expires, at: now) {
        case .new: .new
        case .used: .used
        case .full: .full
        }
    }
}

/// The space that used DPoP proofs, or used client assertions, take in a store, as far as one process has noted them;
/// bounded.
package final class ProofBudget: Sendable {
    /// The maximum number of proofs of one process that have not expired.
    package static let standardCapacity = 1_000_000

    private let space: Mutex<ProofSpace>

    package init(capacity: Int = standardCapacity) { space = Mutex(ProofSpace(capacity: capacity)) }

    /// Takes the space for a proof; returns false if the space or a share of the holder is full.
    package func take(of holder: ProofHolder, until expires: Date, at now: Date) -> Bool {
        space.withLock { $0.take(in: holder.shares, until: expires, at: now) }
    }

    /// Gives the space back, because the proof was not noted.
    package func giveBack(of holder: ProofHolder, until expires: Date) {
        space.withLock { $0.giveBack(in: holder.shares, until: expires) }
    }
}
