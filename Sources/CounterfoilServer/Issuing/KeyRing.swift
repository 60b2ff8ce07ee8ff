import CounterfoilProtocol
public import CounterfoilTokens
public import Foundation
public import Logging

/// The source of the current signing keys.
protocol SigningKeys: Sendable {
    /// Returns the key that signs with an algorithm now; nil if there is none.
    func key(for algorithm: SigningAlgorithm) -> SigningKey?
    /// The key set that `jwks_uri` returns now.
    var publicKeys: JSONWebKeySet { get }
}

/// The signing keys of the server, decrypted and cached.
///
/// The cache is reloaded from the store every minute. A key that the command line or another process creates normally
/// begins to sign 15 minutes later, and this process has loaded it by then.
public final class KeyRing: Sendable, SigningKeys {
    /// An error that prevents the use of the signing keys.
    public enum Refusal: Error, Sendable, CustomStringConvertible {
        /// A signing key in the store is encrypted with a server key other than the configured one.
        case wrongServerKey(KeyIdentifier)

        /// The error message, which says how to correct the configuration.
        public var description: String {
            switch self {
            case .wrongServerKey(let id):
                "the signing key \(id) is encrypted with another server key; restore the server.key "
                    + "(or COUNTERFOIL_SERVER_KEY) that belongs to this database"
            }
        }
    }

    /// The algorithms with which the server signs; at each start, it creates the keys that are missing.
    public static let algorithms: [SigningAlgorithm] = [.es256, .rs256, .edDSA]

    /// The number of seconds after which the cached keys are reloaded.
    public static let refreshInterval: TimeInterval = 60

    private struct State {
        /// The records of the store, oldest first.
        var records: [SealedSigningKey]
        var opened: [KeyIdentifier: SigningKey]
        var readAt: Date
        /// The last computed key set and the time of its computation; the key set is reused for one second.
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

    /// Loads the signing keys, creates a key for each algorithm that has none, and records each new key in the
    /// audit log.
    public static func open(
        _ store: any SigningKeyStore & AuditStore & StoreClock, serverKey: ServerKey
    ) async throws -> KeyRing {
        try await open(store, serverKey: serverKey, clock: { store.now() })
    }

    /// Loads the keys of a store with a clock that a test controls.
    package static func open(
        _ store: any SigningKeyStore & AuditStore, serverKey: ServerKey, clock: @escaping @Sendable () -> Date
    ) async throws -> KeyRing {
        let rotation = KeyRotation(store, serverKey: serverKey)
        let now = clock()
        var records = try await store.signingKeys()
        for algorithm in algorithms where !records.contains(where: { $0.algorithm == algorithm }) {
            // If another process creates the key first, `rotate` returns nil, and the read below returns that key.
            if let key = try await rotation.rotate(algorithm, .atOnce, now: now) {
                try await store.appendAudit(
                    AuditEvent(at: now, .signingKey, detail: "\(algorithm): created the first key, \(key.id)"))
            }
            records = try await store.signingKeys()
        }
        let opened = try opened(records, with: serverKey, known: [:])
        return KeyRing(
            store, serverKey: serverKey, clock: clock, state: State(records: records, opened: opened, readAt: now))
    }

    /// Returns the key that signs with an algorithm now; nil if there is none.
    func key(for algorithm: SigningAlgorithm) -> SigningKey? {
        let now = clock()
        return state.withLock { state in
            SigningKeyLifecycle.signer(algorithm, among: state.records, at: now).flatMap { state.opened[$0.id] }
        }
    }

    /// The key set that `jwks_uri` returns now.
    ///
    /// The keys that sign now come first, then the keys that will sign, then the retired keys. A client that takes the
    /// first matching key therefore takes the key that signs now.
    public var publicKeys: JSONWebKeySet {
        let now = clock()
        return state.withLock { state in
            if let (keys, time) = state.published, abs(now.timeIntervalSince(time)) < 1 { return keys }
            let published = state.records.filter { SigningKeyLifecycle.isPublished($0, at: now) }
            let ordered = SigningKeyLifecycle.State.inOrderOfUse.flatMap { wanted in
                published.filter { $0.state(at: now).state == wanted }
            }
            let keys = JSONWebKeySet(keys: ordered.compactMap { state.opened[$0.id]?.publicKey })
            state.published = (keys, now)
            return keys
        }
    }

    /// Reloads the keys if the cache is at least as old as the given number of seconds.
    ///
    /// If the store does not respond, the cached keys stay in use.
    public func follow(within seconds: TimeInterval = KeyRing.refreshInterval, logger: Logger) async {
        let now = clock()
        let known: [KeyIdentifier: SigningKey]? = state.withLock { state in
            // The absolute value also makes the cache stale if the clock was set back.
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
            logger.error("failed to reload the signing keys", metadata: ["error": "\(error)"])
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

extension SigningKeyLifecycle.State {
    fileprivate static let inOrderOfUse: [Self] = [.signing, .published, .retired]
}
