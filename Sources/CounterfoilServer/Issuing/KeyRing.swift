public import CounterfoilTokens
public import Foundation
public import Logging
import Synchronization

/// Where the keys of this moment come from.
protocol SigningKeys: Sendable {
    /// The key that signs with an algorithm now.
    func key(for algorithm: SigningAlgorithm) -> SigningKey?
    /// What `jwks_uri` answers now.
    var publicKeys: JSONWebKeySet { get }
}

/// The keys with which the server signs, opened and ready.
///
/// It follows the store: what the command line or another process has rotated is seen within a minute, which is far less than a new
/// key is published before it signs.
public final class KeyRing: Sendable, SigningKeys {
    /// Why the keys cannot be used.
    public enum Refusal: Error, Sendable, CustomStringConvertible {
        /// The server key is not the one that sealed them.
        case wrongServerKey(KeyIdentifier)

        /// What happened and what to do.
        public var description: String {
            switch self {
            case .wrongServerKey(let id):
                "the signing key \(id) was sealed with another server key; put the server.key (or COUNTERFOIL_SERVER_KEY) that "
                    + "belongs to this database back"
            }
        }
    }

    /// The algorithms for which a server has a key from its first start on.
    public static let algorithms: [SigningAlgorithm] = [.es256, .rs256, .edDSA]

    /// How old what is known of the store may be, in seconds.
    public static let patience: TimeInterval = 60

    private struct State {
        /// As the store has them, oldest first.
        var records: [SealedSigningKey]
        var opened: [KeyIdentifier: SigningKey]
        var readAt: Date
        /// What was published within the second before, and when that was.
        var published: (keys: JSONWebKeySet, at: Date)?
    }

    private let store: any SigningKeyStore
    private let serverKey: ServerKey
    private let clock: @Sendable () -> Date
    private let state: Mutex<State>

    private init(
        _ store: any SigningKeyStore, serverKey: ServerKey, clock: @escaping @Sendable () -> Date, state: State
    ) {
        self.store = store
        self.serverKey = serverKey
        self.clock = clock
        self.state = Mutex(state)
    }

    /// Opens the keys of a store; those that are missing are made, which is noted in the audit log.
    public static func open(_ store: any SigningKeyStore & AuditStore, serverKey: ServerKey) async throws -> KeyRing {
        try await open(store, serverKey: serverKey, clock: { SteadyClock.shared.now })
    }

    /// Opens the keys of a store with a clock that a test knows.
    package static func open(
        _ store: any SigningKeyStore & AuditStore, serverKey: ServerKey, clock: @escaping @Sendable () -> Date
    ) async throws -> KeyRing {
        let rotation = KeyRotation(store, serverKey: serverKey)
        let now = clock()
        var records = try await store.signingKeys()
        for algorithm in algorithms where !records.contains(where: { $0.algorithm == algorithm }) {
            // Whether ours or another process's comes first, the store says afterwards.
            if let key = try await rotation.rotate(algorithm, .atOnce, now: now) {
                try await store.appendAudit(
                    AuditEvent(at: now, .signingKey, detail: "\(algorithm): the first key was made, \(key.id)"))
            }
            records = try await store.signingKeys()
        }
        let opened = try opened(records, with: serverKey, known: [:])
        return KeyRing(
            store, serverKey: serverKey, clock: clock, state: State(records: records, opened: opened, readAt: now))
    }

    /// The key that signs with an algorithm now.
    func key(for algorithm: SigningAlgorithm) -> SigningKey? {
        let now = clock()
        return state.withLock { state in
            KeySuccession.signer(algorithm, among: state.records, at: now).flatMap { state.opened[$0.id] }
        }
    }

    /// What `jwks_uri` answers now: what signs before what waits and what is only kept, for readers that take the first key that fits.
    public var publicKeys: JSONWebKeySet {
        let now = clock()
        return state.withLock { state in
            if let (keys, time) = state.published, abs(now.timeIntervalSince(time)) < 1 { return keys }
            let published = state.records.filter { KeySuccession.isPublished($0, at: now) }
            let ordered = KeySuccession.State.inOrderOfUse.flatMap { wanted in
                published.filter { $0.state(at: now).state == wanted }
            }
            let keys = JSONWebKeySet(keys: ordered.compactMap { state.opened[$0.id]?.publicKey })
            state.published = (keys, now)
            return keys
        }
    }

    /// Reads the store again when what is known of it is older than so many seconds.
    ///
    /// A store that does not answer changes nothing: the keys that are known go on signing.
    public func follow(within seconds: TimeInterval = KeyRing.patience, logger: Logger) async {
        let now = clock()
        let known: [KeyIdentifier: SigningKey]? = state.withLock { state in
            // A clock that was set back must not stop it.
            guard abs(now.timeIntervalSince(state.readAt)) >= seconds else { return nil }
            state.readAt = now
            return state.opened
        }
        guard let known else { return }
        do {
            let records = try await store.signingKeys()
            guard !records.isEmpty else { return }
            let opened = try Self.opened(records, with: serverKey, known: known)
            state.withLock { state in
                state.records = records
                state.opened = opened
                state.published = nil
            }
        } catch {
            logger.error("the signing keys could not be read again: \(error)")
        }
    }

    private static func opened(
        _ records: [SealedSigningKey], with serverKey: ServerKey, known: [KeyIdentifier: SigningKey]
    ) throws -> [KeyIdentifier: SigningKey] {
        var opened: [KeyIdentifier: SigningKey] = [:]
        for record in records {
            if let key = known[record.id] {
                opened[record.id] = key
                continue
            }
            guard let bytes = try? serverKey.open(record.sealed, identifier: record.id.rawValue) else {
                throw Refusal.wrongServerKey(record.id)
            }
            opened[record.id] = try SigningKey(algorithm: record.algorithm, privateRepresentation: bytes)
        }
        return opened
    }
}

extension KeySuccession.State {
    fileprivate static let inOrderOfUse: [Self] = [.signing, .published, .retired]
}
