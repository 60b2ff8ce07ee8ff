import CounterfoilProtocol
import CounterfoilTokens
import Foundation

/// The clients of the server by their identifiers, however they became known to it.
///
/// Every endpoint of the protocol finds its client here.
///
/// - A client that a person registered is read from the store.
/// - A client that registered itself is read from the store, too. The owner's policy applies to it.
/// - A client with a document is stored when a user first allows it something. Until then, its document is all that
///   the server knows of it.
struct ClientDirectory: Sendable {
    let settings: ServerSettings
    let store: any AuthorizationServerStore
    /// The files that clients publish; nil if the server was created without a fetcher.
    let files: ClientFiles?
    let auditor: Auditor

    /// The maximum size of a client document in bytes (draft-ietf-oauth-client-id-metadata-document §6.6).
    static let documentLimit = 5 * 1024
    /// The maximum size of a key set in bytes.
    static let keysLimit = 32 * 1024
    /// The maximum time in seconds for which keys are used without a request, so that a client can rotate its keys.
    static let longestKeysAge: TimeInterval = 5 * 60

    /// Returns the client of a request that continues what a user has allowed; nil if there is none.
    ///
    /// It sends no request to another host, so a document that cannot be fetched ends nothing.
    func existing(_ id: ClientIdentifier) async throws -> RegisteredClient? {
        guard let client = try await store.client(id) else { return nil }
        guard client.isUnregistered else { return client }
        return accepted(client, under: try await store.effectiveUnregisteredClientPolicy(settings))
    }

    /// Returns the client of a request that begins an authorization; nil if there is none.
    ///
    /// - Throws: ``ClientDocumentRefusal`` if the identifier is the URL of a document that cannot be used.
    func beginning(_ id: ClientIdentifier, now: Date) async throws -> RegisteredClient? {
        let stored = try await store.client(id)
        guard stored?.isUnregistered ?? id.isURL else { return stored }
        let policy = try await store.effectiveUnregisteredClientPolicy(settings)
        switch stored?.source {
        case .console?: return stored
        case .registration?:
            guard let client = accepted(stored, under: policy) else { return nil }
            return try await scoped(client, under: policy)
        case .document?, nil:
            guard policy.kinds.contains(.document) else {
                guard stored == nil else { throw ClientDocumentRefusal.notAccepted }
                return nil
            }
            return try await document(at: try ClientDocumentURL(id), under: policy, beside: stored, now: now)
        }
    }

    /// Returns the keys with which a client authenticates; nil if it does not authenticate with keys.
    ///
    /// - Parameter afterFailure: Whether the known keys did not verify an assertion, so that new ones are needed.
    func keys(of client: RegisteredClient, afterFailure: Bool, now: Date) async -> JSONWebKeySet? {
        guard let url = client.keysURI, let files else { return client.keys }
        let request = ClientFileRequest(url: url, accepting: "application/json", byteLimit: Self.keysLimit)
        let file = try? await files.file(
            request, longest: Self.longestKeysAge, isNeededNow: afterFailure, now: now)
        guard let file, let keys = try? JSONWebKeySet(parsing: file.body) else { return client.keys }
        return keys
    }

    /// Returns a stored client with what the policy determines; nil if the policy refuses the client.
    private func accepted(_ stored: RegisteredClient?, under policy: UnregisteredClientPolicy) -> RegisteredClient? {
        guard var client = stored, let kind = client.source.kind, policy.kinds.contains(kind),
            client.hosts.allSatisfy(policy.accepts)
        else { return nil }
        client.policy.apply(policy)
        return client
    }

    /// Returns a client with the scopes that the policy lets it request.
    private func scoped(
        _ client: RegisteredClient, under policy: UnregisteredClientPolicy
    ) async throws -> RegisteredClient {
        var client = client
        client.scope =
            UnregisteredClientRules(
                settings: settings, policy: policy, definitions: try await store.scopes()
            ).scope
        return client
    }

    private func document(
        at url: ClientDocumentURL, under policy: UnregisteredClientPolicy, beside stored: RegisteredClient?, now: Date
    ) async throws -> RegisteredClient {
        guard let files, policy.accepts(host: url.host) else { throw ClientDocumentRefusal.notAccepted }
        let request = ClientFileRequest(
            url: url.uri, accepting: "application/json", byteLimit: Self.documentLimit)
        let file = try await files.file(request, now: now)
        do {
            let rules = UnregisteredClientRules(
                settings: settings, policy: policy, definitions: try await store.scopes())
            var client = try Self.client(in: file, at: url, rules: rules, now: now)
            client.keys = await keys(of: client, afterFailure: false, now: now)
            guard let stored else { return client }
            return try await updated(stored, to: client, now: now)
        } catch let refusal as ClientDocumentRefusal {
            // An invalid document is never kept (draft-ietf-oauth-client-id-metadata-document §4.4).
            await files.forget(url.uri)
            throw refusal
        }
    }

    /// Reads a document (draft-ietf-oauth-client-id-metadata-document §4).
    private static func client(
        in file: ClientFiles.File, at url: ClientDocumentURL, rules: UnregisteredClientRules, now: Date
    ) throws(ClientDocumentRefusal) -> RegisteredClient {
        let type = file.contentType.flatMap { ParameterizedValue(parsing: Array($0.utf8)) }?.value
        guard let type, type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json") else {
            throw .contentType
        }
        guard let members = try? JSONReader.object(file.body) else {
            throw .invalid("it is not a JSON object, or a member occurs twice")
        }
        guard case .string(let id)? = members["client_id"], id == url.clientID.rawValue else {
            throw .invalid("its client_id is not its URL, byte for byte")
        }
        do {
            let metadata = try ClientMetadata(members)
            return try rules.client(of: metadata, at: url, source: .document(file.body), now: now)
        } catch { throw .invalid(error.description) }
    }

    /// Stores a changed document of a client that the store has already, and returns the client with its document.
    private func updated(
        _ stored: RegisteredClient, to document: RegisteredClient, now: Date
    ) async throws -> RegisteredClient {
        // The type of a stored client never changes. A document that changes it names another kind of client.
        guard stored.type == document.type else {
            throw ClientDocumentRefusal.invalid(
                "it now describes a client of the type \(document.type.rawValue), and users know one of the type "
                    + stored.type.rawValue)
        }
        var client = RegisteredClient(
            id: stored.id, type: stored.type, presentation: document.presentation,
            redirectURIs: document.redirectURIs, scope: document.scope, origins: document.origins,
            postLogoutRedirectURIs: document.postLogoutRedirectURIs, keys: document.keys, keysURI: document.keysURI,
            source: document.source, policy: document.policy, createdAt: stored.createdAt,
            changedAt: stored.changedAt, revision: stored.revision)
        client.presentation.logo = stored.presentation.logo
        guard client != stored else { return stored }
        client.changedAt = max(stored.changedAt, now)
        switch try await store.updateClient(client, logo: .keep) {
        case .updated:
            client.revision += 1
            if client.keys != stored.keys {
                await auditor.note(
                    AuditEvent(
                        at: now, .application, clientID: client.id, detail: "the keys in the client document changed"))
            }
            return client
        // Another request stored the same document, or the client was deleted meanwhile. Its revision decides when the
        // user approves.
        case .changedMeanwhile, .notFound, .unknownScopes: return client
        }
    }
}

extension RegisteredClient {
    /// The hosts that stand for an unregistered client in the policy: that of its document, or those of its https
    /// redirect URIs.
    var hosts: [String] {
        if id.isURL { return [(try? AbsoluteURI(parsing: id.rawValue))?.host ?? ""] }
        return redirectURIs.compactMap { uri in
            if case .https(let host) = uri.kind { host } else { nil }
        }
    }
}
