@_spi(Counterfoil) package import CounterfoilProtocol
package import CounterfoilStore
package import CounterfoilTokens
package import Foundation

/// The changes of signing keys, of the certificate and of registration tokens that administrators make, on pages and at
/// the command line.
///
/// Each commit has its events. The rules are here and in the store, so a page and a command cannot differ.
package struct ServerAdministration: Sendable {
    package typealias Store = SigningKeyStore & CertificateOrderStore & UnregisteredClientStore

    /// The days after which a registration token can expire.
    package static let tokenDays = 1...3650
    /// The days after which a registration token usually expires.
    package static let standardTokenDays = 90

    private let store: any Store
    private let serverKey: ServerKey
    /// The time of the changes, by the clock of the store.
    package let time: Date
    private let event: @Sendable (AuditEvent.Kind, String) -> AuditEvent
    private let count: @Sendable ([AuditEvent]) -> Void

    /// Creates the changes for one command or request.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - serverKey: The key with which signing keys are encrypted.
    ///   - time: The time of the changes, by the clock of the store.
    ///   - event: Creates an event that names who makes the change.
    ///   - count: Counts the events that a commit has appended.
    package init(
        _ store: any Store, serverKey: ServerKey, at time: Date,
        recording event: @escaping @Sendable (AuditEvent.Kind, String) -> AuditEvent,
        counting count: @escaping @Sendable ([AuditEvent]) -> Void = { _ in }
    ) {
        self.store = store
        self.serverKey = serverKey
        self.time = time
        self.event = event
        self.count = count
    }

    /// Creates the successor of the newest key of an algorithm, or its first key.
    ///
    /// - Parameters:
    ///   - algorithm: The algorithm.
    ///   - beginning: The time at which the key begins to sign.
    ///   - shown: The newest key that the administrator has seen; nil for any.
    /// - Returns: The new key; nil if the newest key is another one, or was replaced meanwhile.
    package func rotate(
        _ algorithm: SigningAlgorithm, _ beginning: KeyRotation.Beginning, replacing shown: KeyIdentifier? = nil
    ) async throws -> SealedSigningKey? {
        let rotated = { [event] (key: SealedSigningKey) in
            [event(.signingKey, "\(algorithm) rotated; the new key is \(key.id)")]
        }
        let key = try await KeyRotation(store, serverKey: serverKey)
            .rotate(algorithm, beginning, replacing: shown, recording: rotated, now: time)
        if let key { count(rotated(key)) }
        return key
    }

    /// Deletes a signing key, so that every token that it signed is refused.
    ///
    /// A key without a successor that signs already gets one that signs at once, so the algorithm keeps a key.
    package func withdraw(_ id: KeyIdentifier) async throws -> KeyWithdrawal {
        let keys = try await store.signingKeys()
        guard let key = keys.first(where: { $0.id == id }) else { return .notFound }
        var successor: SealedSigningKey?
        if key.replacedAt.map({ time < $0 }) ?? true {
            let newest = keys.last { $0.algorithm == key.algorithm && $0.replacedAt == nil }
            successor = try await rotate(key.algorithm, .atOnce, replacing: newest?.id)
            guard successor != nil else { return .changedMeanwhile }
        }
        let events = [event(.signingKey, "\(key.algorithm): withdrew the key \(id)")]
        guard try await store.removeSigningKey(id, recording: events) else { return .notFound }
        count(events)
        return .withdrawn(successor: successor)
    }

    /// Asks the servers for a new certificate; returns false if they were asked before, or if there is none to replace.
    package func requestCertificate() async throws(StoreFault) -> Bool {
        let events = [event(.setting, "requested a new certificate")]
        guard try await store.requestRenewal(recording: events) else { return false }
        count(events)
        return true
    }

    /// Returns whether a text can be the name of a registration token.
    package static func isTokenName(_ name: String) -> Bool { DisplayName.isShownWhole(name, length: 1...100) }

    /// Adds a token for registrations, whose text is known only now.
    ///
    /// - Parameters:
    ///   - name: A name for which ``isTokenName(_:)`` is true.
    ///   - days: The days until the token expires, in ``tokenDays``.
    ///   - random: The source of the text.
    package func addRegistrationToken(
        named name: String, days: Int, random: RandomBytes = RandomBytes()
    ) async throws(StoreFault) -> (token: InitialAccessToken, text: InitialAccessTokenText) {
        let text = InitialAccessTokenText(random: random)
        let token = InitialAccessToken(
            digest: ArtefactDigest(of: text), name: name, createdAt: time,
            expiresAt: time.addingTimeInterval(TimeInterval(days) * 86_400))
        let events = [event(.setting, "added the registration token \(token.shortID)")]
        try await store.addInitialAccessToken(token, recording: events)
        count(events)
        return (token, text)
    }

    /// Removes a token for registrations; returns false if it was removed meanwhile.
    package func remove(_ token: InitialAccessToken) async throws(StoreFault) -> Bool {
        let events = [event(.setting, "removed the registration token \(token.shortID)")]
        guard try await store.removeInitialAccessToken(token.digest, recording: events) else { return false }
        count(events)
        return true
    }
}

/// The outcome of ``ServerAdministration/withdraw(_:)``.
package enum KeyWithdrawal: Sendable, Hashable {
    /// The key was deleted, with the new key that signs in its place if it had no successor that signs.
    case withdrawn(successor: SealedSigningKey?)
    /// There is no such key any more.
    case notFound
    /// Another rotation was made at the same time; nothing was deleted.
    case changedMeanwhile
}

extension ServerComponents {
    /// Returns the changes that an administrator makes in one request.
    package func serverAdministration(
        at time: Date, recording event: @escaping @Sendable (AuditEvent.Kind, String) -> AuditEvent
    ) -> ServerAdministration {
        ServerAdministration(
            store, serverKey: serverKey, at: time, recording: event,
            counting: { [auditor] in auditor.countRecorded($0) })
    }
}
