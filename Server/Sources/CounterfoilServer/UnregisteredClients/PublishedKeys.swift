@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

extension ClientDirectory {
    /// The maximum size of a key set in bytes.
    static let keysLimit = 32 * 1024
    /// The maximum time in seconds for which keys are used without a request, so that a client can rotate its keys.
    static let longestKeysAge: TimeInterval = 5 * 60

    /// Returns the keys with which a client authenticates; nil if it does not authenticate with keys.
    ///
    /// These are the keys that the client publishes. If they cannot be fetched, these are the keys that the server
    /// knows, so that a host that is down ends nothing. They are empty if the server knows none.
    ///
    /// - Parameters:
    ///   - source: The address that causes a request. The requests for clients that no administrator registered are
    ///     limited for each address, as those for documents are.
    ///   - afterFailure: Whether the known keys did not verify an assertion, so that new ones are needed. Files are
    ///     then fetched again, but not within ``ClientFiles/renewalInterval``.
    func keys(
        of client: RegisteredClient, from source: CountedSource?, afterFailure: Bool = false, now: Date
    ) async throws -> JSONWebKeySet? {
        guard client.keys != nil, let files else { return client.keys }
        let source = client.source.kind == nil ? nil : source
        guard client.keysURI != nil || client.source.kind == .document else { return client.keys }
        let rules = try await rules(at: try await registry.fresh())
        var url = client.keysURI
        if case .document = client.source {
            let published = try? await self.document(
                of: client.id, by: rules, from: source, isStored: true, isNeededNow: afterFailure, now: now)
            if let published, published.client.type.isConfidential {
                url = published.client.keysURI
                if url == nil { return published.client.keys }
            }
        }
        guard let url else { return client.keys }
        let request = ClientFileRequest(
            url: url, accepting: "application/json", byteLimit: Self.keysLimit,
            isOfNamedHost: rules.policy.names(host: url.host ?? ""))
        let file = try? await files.file(
            .keys, request, for: self.request, from: source, isInUse: true, longest: Self.longestKeysAge,
            isNeededNow: afterFailure, now: now, reading: Self.read)
        guard case .keys(let keys)? = file?.content else { return client.keys }
        return keys
    }

    /// Stores the keys with which a client has authenticated, if they are not those that the store has.
    func note(_ keys: JSONWebKeySet, of client: RegisteredClient, now: Date) async throws {
        // An administrator may have adopted the client meanwhile, whose keys are then those of its form.
        guard client.source.kind != nil, var stored = try await registry.fresh().client(client.id),
            stored.source.kind == client.source.kind, stored.keys != keys
        else { return }
        let former = stored.keys
        stored.keys = keys
        stored.changedAt = max(stored.changedAt, now)
        // If another request has changed the client, the next authentication stores the keys.
        let events =
            former?.keys.isEmpty == false
            ? [AuditEvent(at: now, .client, clientID: client.id, detail: "published keys changed")] : []
        let outcome = try await store.updateClient(stored, logo: .keep, recording: events)
        if outcome.isCommitted { auditor.countRecorded(events) }
    }

    private static let read: ClientFiles.Reader = { response throws(ClientDocumentRefusal) in
        do {
            let members = try? JSONReader.object(response.body)
            guard let members else { throw ClientMetadata.Refusal("the key set is not a JSON object") }
            return .keys(try UnregisteredClientRules.keySet(.object(members)))
        } catch let refusal as ClientMetadata.Refusal {
            throw .invalid(refusal.description)
        } catch { throw .invalid("the key set cannot be read") }
    }
}
