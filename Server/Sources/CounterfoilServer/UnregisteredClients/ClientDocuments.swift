@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

extension ClientDirectory {
    /// The maximum size of a client document in bytes (draft-ietf-oauth-client-id-metadata-document-02 §8.7).
    static let documentLimit = 5 * 1024

    /// Returns the client that the document at its identifier describes, and updates the stored client with it.
    ///
    /// - Parameters:
    ///   - stored: The stored client with this URL as its identifier; nil if no user has allowed it anything.
    ///   - source: The IP address that names the document; nil if it is not counted.
    func document(
        of id: ClientIdentifier, by rules: UnregisteredClientRules, beside stored: RegisteredClient?,
        from source: CountedSource?, now: Date
    ) async throws -> RegisteredClient {
        let document = try await document(of: id, by: rules, from: source, isStored: stored != nil, now: now)
        guard let stored else { return document.client }
        if document.described.isKnownToEqual(stored, by: rules) { return stored }
        if document.client.replacing(stored, now: now) == stored {
            document.described.noteEqual(stored, by: rules)
            return stored
        }
        guard document.confirmedAt < stored.changedAt else {
            return try await updated(stored, to: document.client, now: now)
        }
        // Another server may have stored a document that it received after this one.
        let newer = try? await self.document(
            of: id, by: rules, from: source, isStored: true, isNeededNow: true, now: now)
        guard let newer, newer.confirmedAt >= stored.changedAt else { return stored }
        return try await updated(stored, to: newer.client, now: now)
    }

    /// A client document that was received from its host.
    struct ReceivedDocument: Sendable {
        let client: RegisteredClient
        let described: DescribedClient
        /// The time at which the host last sent or confirmed the document.
        let confirmedAt: Date
    }

    /// Returns the client that the document at its identifier describes now, with the metadata of the document.
    ///
    /// The URL of a document in the cache is not parsed again.
    ///
    /// - Parameters:
    ///   - source: The IP address that names the document; nil if it is not counted.
    ///   - isStored: Whether a user allows the client something.
    ///   - isNeededNow: Whether a fresh copy of the document is not sufficient.
    func document(
        of id: ClientIdentifier, by rules: UnregisteredClientRules, from source: CountedSource? = nil, isStored: Bool,
        isNeededNow: Bool = false, now: Date
    ) async throws(ClientDocumentRefusal) -> ReceivedDocument {
        if !isNeededNow, let file = files?.fresh(.document, at: id.rawValue, isInUse: isStored, now: now) {
            return try Self.received(file, by: rules, now: now)
        }
        let url = try ClientDocumentURL(id)
        guard let files, rules.policy.accepts(host: url.host) else { throw .notAccepted }
        let request = ClientFileRequest(
            url: url.uri, accepting: "application/json", byteLimit: Self.documentLimit,
            isOfNamedHost: rules.policy.names(host: url.host))
        let file = try await files.file(
            .document, request, for: self.request, from: source, isInUse: isStored, isNeededNow: isNeededNow, now: now
        ) {
            response throws(ClientDocumentRefusal) in
            let described = DescribedClient(try Self.metadata(in: response, at: url), in: response.body, at: url)
            // A document that describes no usable client is never kept (§5.2).
            _ = try described.client(by: rules, now: now)
            return .document(described)
        }
        return try Self.received(file, by: rules, now: now)
    }

    private static func received(
        _ file: ClientFiles.File, by rules: UnregisteredClientRules, now: Date
    ) throws(ClientDocumentRefusal) -> ReceivedDocument {
        guard case .document(let described) = file.content else { throw .contentType }
        return ReceivedDocument(
            client: try described.client(by: rules, now: now), described: described, confirmedAt: file.confirmedAt)
    }

    /// Reads a document (draft-ietf-oauth-client-id-metadata-document-02 §4).
    private static func metadata(
        in response: ClientFiles.Response, at url: ClientDocumentURL
    ) throws(ClientDocumentRefusal) -> ClientMetadata {
        let type = response.contentType.flatMap { ParameterizedValue(parsing: Array($0.utf8)) }?.value.lowercased()
        guard let type, type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json") else {
            throw .contentType
        }
        guard let members = try? JSONReader.object(response.body) else {
            throw .invalid("it is not a JSON object, or a member occurs twice")
        }
        // For `==`, strings that are canonically equivalent in Unicode are equal.
        guard case .string(let id)? = members["client_id"], id.utf8.elementsEqual(url.clientID.rawValue.utf8) else {
            throw .invalid("its client_id is not its URL, byte for byte")
        }
        do { return try ClientMetadata(members, isDocument: true) } catch { throw .invalid(error.description) }
    }

    /// Stores a changed document of a client that the store has already, and returns the client with its document.
    private func updated(
        _ stored: RegisteredClient, to document: RegisteredClient, now: Date
    ) async throws -> RegisteredClient {
        var stored = stored
        for _ in 0..<Self.attempts {
            // A refresh token of a confidential client must stay useless without the key of the client.
            guard document.type.isConfidential || !stored.type.isConfidential else {
                throw ClientDocumentRefusal.invalid(
                    "it no longer names private_key_jwt, with which users know this client; use another URL instead")
            }
            let client = document.replacing(stored, now: now)
            guard client != stored else { return stored }
            let events = Self.changes(from: stored, to: client, now: now)
            switch try await store.updateClient(client, logo: .keep, recording: events) {
            case .updated:
                auditor.countRecorded(events)
                guard let current = try await registry.fresh().client(client.id) else { return client }
                return current
            case .changedMeanwhile:
                guard let current = try await registry.fresh().client(client.id), current.source.kind == .document
                else {
                    return client
                }
                stored = current
            // The client was deleted meanwhile, or one of its scopes: the approval decides.
            case .notFound, .unknownScopes: return client
            }
        }
        return stored
    }

    /// The maximum number of attempts to store a changed document, while other requests change the client.
    private static let attempts = 4

    /// Returns the event of a change of a client document; none if nothing changed that users or keys depend on.
    private static func changes(
        from former: RegisteredClient, to client: RegisteredClient, now: Date
    ) -> [AuditEvent] {
        var changes: [String] = []
        if former.type != client.type { changes.append("type") }
        if former.redirectURIs != client.redirectURIs { changes.append("redirect_uris") }
        if former.keys != client.keys { changes.append("jwks") }
        if former.keysURI != client.keysURI { changes.append("jwks_uri") }
        if former.presentation.name != client.presentation.name { changes.append("client_name") }
        guard !changes.isEmpty else { return [] }
        return [
            AuditEvent(
                at: now, .client, clientID: client.id,
                detail: "client document changed: \(changes.joined(separator: ", "))")
        ]
    }
}

extension RegisteredClient {
    /// Returns the client of a document with what the store knows of it.
    fileprivate func replacing(_ stored: RegisteredClient, now: Date) -> RegisteredClient {
        var client = RegisteredClient(
            id: stored.id, type: type, presentation: presentation, redirectURIs: redirectURIs, scope: scope,
            optionalScope: optionalScope, origins: origins, postLogoutRedirectURIs: postLogoutRedirectURIs, keys: keys,
            keysURI: keysURI, source: source, policy: policy, approval: stored.approval, testers: stored.testers,
            suspension: stored.suspension, createdAt: stored.createdAt, changedAt: stored.changedAt,
            revision: stored.revision)
        client.presentation.logo = stored.presentation.logo
        // The document does not contain the keys at its `jwks_uri`.
        if keysURI != nil, keysURI == stored.keysURI { client.keys = stored.keys }
        if client != stored { client.changedAt = max(stored.changedAt, now) }
        return client
    }
}
