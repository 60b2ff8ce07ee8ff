import CArgon2
@_spi(Counterfoil) public import CounterfoilProtocol
public import CounterfoilStore
import Foundation

/// An Argon2id hasher that runs on separate threads, by default one for each core, with a bounded queue.
///
/// The parameters are 19 MiB, two passes and one lane (RFC 9106 §4). A hash takes tens of milliseconds, so an event
/// loop must not wait for it. The passwords of a sign-in page are verified for sources and names in turn.
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
    /// The span of the request for which the hashes are made.
    private let span: (any TraceSpan)?

    /// Creates a hasher that runs `cores` hashes at once, by default one for each core, and queues at most
    /// `capacity`.
    public convenience init(cores: Int? = nil, capacity: Int = 64, random: RandomBytes = RandomBytes()) {
        self.init(cores: cores, capacity: capacity, random: random, verified: { _ in })
    }

    /// Creates a hasher for a test, which calls `verified` with each hash that Argon2 has compared with a password.
    package init(
        cores: Int? = nil, capacity: Int = 64, random: RandomBytes = RandomBytes(),
        verified: @escaping @Sendable (PasswordHash) -> Void
    ) {
        let cores = cores ?? ProcessInfo.processInfo.activeProcessorCount
        queue = BoundedQueue(label: "counterfoil.passwords", width: cores, capacity: capacity)
        self.random = random
        self.verified = verified
        span = nil
    }

    private init(_ hasher: PasswordHasher, in span: any TraceSpan) {
        queue = hasher.queue
        random = hasher.random
        verified = hasher.verified
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
        return try await run(for: party) { Result { try Self.encode(password, salt: salt) } }.get()
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
        try await run(for: party) { [verified] in
            let compared = hash ?? Self.unknownUser
            var forms = [(Match.prepared, password.exposed)]
            if let typed = password.asTyped { forms.append((.asTyped, typed)) }
            return forms.first { _, text in
                let code = Self.compare(text, compared)
                // Any other code means that Argon2 rejected the hash or failed before it compared the password.
                if [ARGON2_OK, ARGON2_VERIFY_MISMATCH].contains(where: { $0.rawValue == code }) { verified(compared) }
                return code == ARGON2_OK.rawValue && hash != nil
            }?.0
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

    private static let passes: UInt32 = 2
    private static let memoryKiB: UInt32 = 19 * 1024
    private static let hashLength = 32

    /// A dummy hash of the same cost that matches no password.
    private static let unknownUser = PasswordHash(
        encoded: "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    )

    private static func encode(_ password: Password, salt: [UInt8]) throws -> PasswordHash {
        let bytes = Array(password.exposed.utf8)
        let length = argon2_encodedlen(passes, memoryKiB, 1, UInt32(salt.count), UInt32(hashLength), Argon2_id)
        var encoded = [CChar](repeating: 0, count: Int(length))
        let code = argon2id_hash_encoded(
            passes, memoryKiB, 1, bytes, bytes.count, salt, salt.count, hashLength, &encoded, encoded.count
        )
        guard code == ARGON2_OK.rawValue else { throw Failure(code: code) }
        return PasswordHash(
            encoded: String(decoding: encoded.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// Compares a password with a hash, and returns the result code of libargon2.
    private static func compare(_ password: String, _ hash: PasswordHash) -> Int32 {
        let bytes = Array(password.utf8)
        return argon2id_verify(hash.exposed, bytes, bytes.count)
    }
}
