@_spi(Counterfoil) public import CounterfoilProtocol
public import CounterfoilStore
import Foundation

/// An Argon2id hasher that runs on separate threads, by default one for each core, with a bounded queue.
///
/// The parameters are 19 MiB, two passes and one lane (RFC 9106 §4). A hash takes tens of milliseconds, so an event
/// loop must not wait for it. The passwords of a sign-in page are verified for sources and names in turn. Hashes of
/// other programs, which imported users have, are verified in the same queue.
public final class PasswordHasher: Sendable {
    /// The error that ``hash(_:)`` and ``verify(_:against:)`` throw if the queue is full.
    package typealias Overloaded = BoundedQueue.Overloaded

    /// A failure of Argon2, which only a lack of memory can cause.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The error code of libargon2.
        public let code: Int32

        /// The message for the log, which contains the code but nothing of the password.
        public var description: String { "Argon2 failed with code \(code)" }
    }

    private let queue: BoundedQueue
    private let random: RandomBytes
    private let verified: @Sendable (PasswordHash) -> Void
    /// The costs of hashes that stay as they are.
    private let accepted: Set<Argon2Hash.Cost>
    /// The span of the request for which the hashes are made.
    private let span: (any TraceSpan)?

    /// Creates a hasher that runs `cores` hashes at once, by default one for each core, and queues at most
    /// `capacity`.
    public convenience init(cores: Int? = nil, capacity: Int = 64, random: RandomBytes = RandomBytes()) {
        self.init(cores: cores, capacity: capacity, random: random, verified: { _ in })
    }

    /// Creates a hasher for a test, which calls `verified` with each hash that was compared with a password.
    ///
    /// - Parameter accepted: The costs of hashes that stay as they are, besides that of ``hash(_:)``.
    package init(
        cores: Int? = nil, capacity: Int = 64, random: RandomBytes = RandomBytes(),
        accepting accepted: Set<Argon2Hash.Cost> = [], verified: @escaping @Sendable (PasswordHash) -> Void
    ) {
        let cores = cores ?? ProcessInfo.processInfo.activeProcessorCount
        queue = BoundedQueue(label: "counterfoil.passwords", width: cores, capacity: capacity)
        self.random = random
        self.verified = verified
        self.accepted = accepted.union([.own])
        span = nil
    }

    private init(_ hasher: PasswordHasher, in span: any TraceSpan) {
        queue = hasher.queue
        random = hasher.random
        verified = hasher.verified
        accepted = hasher.accepted
        self.span = span
    }

    /// Returns this hasher, with the same queue, for one request.
    func serving(_ request: RequestContext) -> PasswordHasher {
        request.span.map { PasswordHasher(self, in: $0) } ?? self
    }

    /// Hashes a password with a new salt of 16 bytes; throws an error if the queue is full.
    public func hash(_ password: Password) async throws -> PasswordHash {
        try await hash(password, for: .unlimited)
    }

    /// Hashes a password for a party that shares the queue with others.
    func hash(_ password: Password, for party: BoundedQueue.Party) async throws -> PasswordHash {
        let salt = random.bytes(16)
        return try await run(for: party) { Result { () throws(Failure) in try Self.encode(password, salt: salt) } }
            .get()
    }

    /// The number of hashes in progress, and of those that wait.
    var load: BoundedQueue.Load { queue.load }

    /// The maximum number of passwords of one source that are verified at once, those that wait included.
    static let limitPerSource = 16
    /// The same for one typed name, whether an account has it or not.
    static let limitPerName = 8

    /// The party for which a typed name and password are verified.
    ///
    /// Sources and names are served in turn, so that neither one source with many names nor one name from many sources
    /// delays the others. A source is served as its widest network: an attacker can use many addresses in one network
    /// at once.
    func party(of name: String, from source: CountedSource?) -> BoundedQueue.Party {
        let networks = source?.networks ?? []
        let limits = networks.map { ($0.name, $0.limit(Self.limitPerSource, of: queue.load.capacity)) }
        let user = "name \(name.lowercased())"
        return BoundedQueue.Party(
            lines: [source?.widest.name, user].compactMap(\.self), limits: limits + [(user, Self.limitPerName)])
    }

    /// Throws the error of a full queue if the queue accepts no hash for a party now.
    func checkCapacity(for party: BoundedQueue.Party) throws { try queue.checkCapacity(for: party) }

    /// The form of a password of which a hash was made.
    public enum Match: Sendable, Hashable {
        /// The form of which ``hash(_:)`` makes hashes.
        case prepared
        /// The password as typed; the caller replaces the hash.
        case asTyped
        /// Any form, and the hash is not one that ``hash(_:)`` makes; the caller replaces the hash.
        case foreign
    }

    /// Verifies a password against a hash; returns nil if it is another password.
    ///
    /// Without a hash it does the same work on a dummy hash, so that the response time does not reveal whether
    /// the user exists, or has a password.
    public func verify(_ password: Password, against hash: PasswordHash?) async throws -> Match? {
        try await verify(password, against: hash, for: .unlimited)
    }

    /// Verifies a password against a hash, for a party that shares the queue with others.
    func verify(
        _ password: Password, against hash: PasswordHash?, for party: BoundedQueue.Party
    ) async throws -> Match? {
        try await run(for: party) { [verified, accepted] in
            // A hash of an unknown form costs the same, and matches no password.
            let stored = hash.flatMap { try? HashForm($0) }
            let (compared, form) = stored.map { (hash ?? Self.unknownUser, $0) } ?? (Self.unknownUser, Self.dummy)
            var forms = [(Match.prepared, password.exposed)]
            if let typed = password.asTyped { forms.append((.asTyped, typed)) }
            let match = forms.first { _, text in
                let matches = form.matches(text)
                if matches != nil { verified(compared) }
                return matches == true && stored != nil
            }?.0
            if case .argon2(let own) = form, accepted.contains(own.cost) { return match }
            return match.map { _ in .foreign }
        }
    }

    /// Runs a hash in the queue, for a sampled request in a span with the time for which the hash waited.
    private func run<Value: Sendable>(
        for party: BoundedQueue.Party = .unlimited, _ hash: @escaping @Sendable () -> Value
    ) async throws(Overloaded) -> Value {
        guard let span = span.begin(.passwordHash) else { return try await queue.run(for: party, hash) }
        let start = ContinuousClock.now
        do {
            let value = try await queue.run(for: party) {
                span.note(.waiting(ContinuousClock.now - start))
                return hash()
            }
            span.end()
            return value
        } catch {
            span.end(failing: "overloaded")
            throw error
        }
    }

    /// A dummy hash of the same cost that matches no password.
    private static let unknownUser = PasswordHash(encoded: unmatched.encoded)
    private static let dummy = HashForm.argon2(unmatched)
    private static let unmatched = Argon2Hash(
        cost: .own, salt: [UInt8](repeating: 0, count: 16), digest: [UInt8](repeating: 0, count: hashLength))

    private static let hashLength = 32

    private static func encode(_ password: Password, salt: [UInt8]) throws(Failure) -> PasswordHash {
        let hash = try Argon2Hash(of: password.exposed, cost: .own, salt: salt, length: hashLength)
        return PasswordHash(encoded: hash.encoded)
    }
}
