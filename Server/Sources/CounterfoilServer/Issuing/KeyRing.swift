@_spi(Counterfoil) import CounterfoilProtocol
public import CounterfoilStore
public import CounterfoilTokens
package import Foundation
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
/// Each request reloads the keys if the revision of the registry has changed since they were loaded. A key that another
/// process deletes is therefore not used by any later request.
public final class KeyRing: Sendable, SigningKeys {
    /// An error that prevents the use of the signing keys.
    public enum Refusal: Error, Sendable, CustomStringConvertible {
        /// A signing key in the store is encrypted with a server key other than the configured one.
        case wrongServerKey(KeyIdentifier)
        /// The keys of the pairwise identifiers are encrypted with a server key other than the configured one.
        case wrongServerKeyOfIdentifiers

        /// The error message, which says how to correct the configuration.
        public var description: String {
            switch self {
            case .wrongServerKey(let id):
                "the signing key \(id) is encrypted with another server key; restore the server.key "
                    + "(or COUNTERFOIL_SERVER_KEY) that belongs to this database"
            case .wrongServerKeyOfIdentifiers:
                "the keys of the pairwise identifiers are encrypted with another server key; add the former server key "
                    + "after the current one"
            }
        }
    }

    /// The algorithms with which the server signs.
    public static let algorithms: [SigningAlgorithm] = SigningAlgorithm.allCases
    /// The algorithms whose missing keys the server creates at each start.
    ///
    /// A key for `Ed25519` is created for the first ID token that needs it (``prepare(_:for:)``): some libraries reject
    /// a whole key set if they do not know the `alg` of one key.
    package static let algorithmsFromStart: [SigningAlgorithm] = [.es256, .rs256, .edDSA]

    private struct State {
        /// The records of the store, oldest first.
        var records: [SealedSigningKey]
        var opened: [KeyIdentifier: SigningKey]
        /// The revision of the registry, read before ``records``.
        var revision: RegistryRevision
        /// The last computed key set and the time of its computation; the key set is reused for one second.
        var published: (keys: JSONWebKeySet, at: Date)?
    }

    private let store: any SigningKeyStore & RegistryStore
    private let serverKey: ServerKey
    /// The keys of the identifiers that clients know their users and sessions by.
    let identifiers: IdentifierKeys
    private let clock: @Sendable () -> Date
    private let state: Mutex<State>
    private let failures = LogLimiter(linesPerMinute: 1)

    private init(
        _ store: any SigningKeyStore & RegistryStore, serverKey: ServerKey, identifiers: IdentifierKeys,
        clock: @escaping @Sendable () -> Date, state: State
    ) {
        self.identifiers = identifiers
        self.store = store
        self.serverKey = serverKey
        self.clock = clock
        self.state = Mutex(state)
    }

    /// Loads the signing keys, creates a key for each algorithm that has none, and records each new key in the
    /// audit log.
    public static func open(
        _ store: any SigningKeyStore & IdentifierKeyStore & RegistryStore & StoreClock, serverKey: ServerKey
    ) async throws -> KeyRing {
        try await open(store, serverKey: serverKey, clock: { store.now() })
    }

    /// Loads the keys of a store with a clock that a test controls.
    package static func open(
        _ store: any SigningKeyStore & IdentifierKeyStore & RegistryStore, serverKey: ServerKey,
        clock: @escaping @Sendable () -> Date
    ) async throws -> KeyRing {
        let rotation = KeyRotation(store, serverKey: serverKey)
        let now = clock()
        var revision = try await store.registryRevision()
        var records = try await store.signingKeys()
        for algorithm in algorithmsFromStart where !records.contains(where: { $0.algorithm == algorithm }) {
            try await rotation.createFirst(algorithm, now: now)
            revision = try await store.registryRevision()
            records = try await store.signingKeys()
        }
        var opened: [KeyIdentifier: SigningKey] = [:]
        for record in records { opened[record.id] = try key(of: record, with: serverKey) }
        return KeyRing(
            store, serverKey: serverKey,
            identifiers: try await IdentifierKeys.open(store, serverKey: serverKey), clock: clock,
            state: State(records: records, opened: opened, revision: revision))
    }

    /// Loads the keys of a store for a command, and creates none that is missing.
    package static func reading(
        _ store: any SigningKeyStore & IdentifierKeyStore & RegistryStore & StoreClock, serverKey: ServerKey
    ) async throws -> KeyRing {
        let revision = try await store.registryRevision()
        let records = try await store.signingKeys()
        var opened: [KeyIdentifier: SigningKey] = [:]
        for record in records { opened[record.id] = try key(of: record, with: serverKey) }
        let sealed = try await store.identifierKeys()
        let identifiers: IdentifierKeys
        do {
            identifiers = try sealed.map { try serverKey.open(identifierKeys: $0).keys } ?? IdentifierKeys(serverKey)
        } catch { throw Refusal.wrongServerKeyOfIdentifiers }
        return KeyRing(
            store, serverKey: serverKey, identifiers: identifiers, clock: { store.now() },
            state: State(records: records, opened: opened, revision: revision))
    }

    /// Throws ``Refusal`` if a server key cannot decrypt a signing key in a store, or the keys of the pairwise
    /// identifiers.
    ///
    /// A command that encrypts something for a store would otherwise write what no server can read.
    public static func check(
        _ store: any SigningKeyStore & IdentifierKeyStore, serverKey: ServerKey
    ) async throws(Refusal) {
        // A store that does not answer, or has a damaged key, fails where it is used.
        for record in (try? await store.signingKeys()) ?? [] {
            guard (try? serverKey.open(record.sealed, identifier: record.id.rawValue)) != nil else {
                throw .wrongServerKey(record.id)
            }
        }
        if let sealed = try? await store.identifierKeys(), (try? serverKey.open(identifierKeys: sealed)) == nil {
            throw .wrongServerKeyOfIdentifiers
        }
    }

    /// Creates the key of an algorithm if it has none, and records it in the audit log.
    func prepare(_ algorithm: SigningAlgorithm, for request: RequestContext? = nil) async throws {
        guard key(for: algorithm) == nil else { return }
        let store = boundStore(for: request)
        try await KeyRotation(store, serverKey: serverKey).createFirst(algorithm, now: clock())
        _ = try await reloadIfChanged(in: store)
    }

    /// Returns the key that signs with an algorithm now; nil if there is none.
    func key(for algorithm: SigningAlgorithm) -> SigningKey? {
        let now = clock()
        return state.withLock { state in
            SigningKeyLifecycle.signer(algorithm, among: state.records, at: now).flatMap { state.opened[$0.id] }
        }
    }

    /// The time since which the current key of each algorithm signs, in the order of ``algorithms``.
    var signingSince: [(algorithm: String, time: Date)] {
        let now = clock()
        return state.withLock { state in
            Self.algorithms.compactMap { algorithm in
                SigningKeyLifecycle.signer(algorithm, among: state.records, at: now)
                    .map { ("\(algorithm)", $0.signsFrom) }
            }
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

    /// Reloads the keys if the revision of the registry has changed since they were loaded, and returns the revision.
    ///
    /// - Parameters:
    ///   - request: The request that uses the keys; nil for a service.
    ///   - logger: The logger for keys that cannot be used.
    /// - Throws: A `StoreFault` if the store does not respond. The cached keys then stay in use, for what must not
    ///   depend on the store.
    @discardableResult
    public func follow(for request: RequestContext? = nil, logger: Logger) async throws -> RegistryRevision {
        let store = boundStore(for: request)
        while true {
            let current: RegistryRevision?
            let closed: [KeyIdentifier]
            do {
                (current, closed) = try await reloadIfChanged(in: store)
            } catch {
                if let leftOut = failures.admit(now: clock()) {
                    logger.error(
                        "failed to reload the signing keys", metadata: ["error": "\(error)", "left_out": "\(leftOut)"])
                }
                throw error
            }
            for key in closed {
                logger.error(
                    "failed to decrypt a signing key, so it is not used",
                    metadata: ["error": "\(Refusal.wrongServerKey(key))"])
            }
            if let current { return current }
        }
    }

    private func boundStore(for request: RequestContext?) -> any SigningKeyStore & RegistryStore {
        request.map { store.serving($0) } ?? store
    }

    /// Reloads the keys if the revision of the registry has changed.
    ///
    /// - Returns: The revision of the keys. It is nil if another request has reloaded the keys at the same time,
    ///   because it is unknown which of the two read later. Besides, the keys that cannot be decrypted.
    private func reloadIfChanged(
        in store: any SigningKeyStore & RegistryStore
    ) async throws -> (current: RegistryRevision?, closed: [KeyIdentifier]) {
        let revision = try await store.registryRevision()
        guard let known = state.withLock({ $0.revision == revision ? nil : $0 }) else {
            return (revision, [])
        }
        let records = try await store.signingKeys()
        let keys = opened(records, known: known.opened)
        // A key that cannot be decrypted fails again only after the next change of the registry.
        let next = State(records: records.filter { keys[$0.id] != nil }, opened: keys, revision: revision)
        let isFirst = state.withLock { state in
            guard state.revision == known.revision else { return false }
            state = next
            return true
        }
        return (isFirst ? revision : nil, isFirst ? records.map(\.id).filter { keys[$0] == nil } : [])
    }

    /// Decrypts the keys that are not known yet; one that cannot be decrypted is left out.
    private func opened(
        _ records: [SealedSigningKey], known: [KeyIdentifier: SigningKey]
    ) -> [KeyIdentifier: SigningKey] {
        var opened: [KeyIdentifier: SigningKey] = [:]
        for record in records { opened[record.id] = known[record.id] ?? (try? Self.key(of: record, with: serverKey)) }
        return opened
    }

    private static func key(of record: SealedSigningKey, with serverKey: ServerKey) throws -> SigningKey {
        guard let bytes = try? serverKey.open(record.sealed, identifier: record.id.rawValue) else {
            throw Refusal.wrongServerKey(record.id)
        }
        return try SigningKey(algorithm: record.algorithm, privateRepresentation: bytes)
    }
}

extension SigningKeyLifecycle.State {
    fileprivate static let inOrderOfUse: [Self] = [.signing, .published, .retired]
}
