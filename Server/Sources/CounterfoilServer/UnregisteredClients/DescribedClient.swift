@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilStore
import Foundation

/// The client that a document describes.
///
/// The rules that turn the metadata into a client parse each URL in it. They are applied again only after the policy or
/// the scopes of the server have changed.
final class DescribedClient: Sendable {
    private let metadata: ClientMetadata
    private let document: [UInt8]
    private let url: ClientDocumentURL
    private let latest = Mutex<Latest?>(nil)

    private struct Latest {
        var rules: UnregisteredClientRules
        let client: RegisteredClient
        /// The revision of the stored client that equals the client; nil if it is not known to equal one.
        var equalRevision: Int?
    }

    init(_ metadata: ClientMetadata, in document: [UInt8], at url: ClientDocumentURL) {
        self.metadata = metadata
        self.document = document
        self.url = url
    }

    /// Returns the client under the rules of the server.
    ///
    /// - Throws: ``ClientDocumentRefusal/notAccepted`` if the policy refuses the host of the document, and
    ///   ``ClientDocumentRefusal/invalid(_:)`` if the document describes no client that can be used.
    func client(by rules: UnregisteredClientRules, now: Date) throws(ClientDocumentRefusal) -> RegisteredClient {
        if var client = known(by: rules) {
            (client.createdAt, client.changedAt) = (now, now)
            return client
        }
        guard rules.policy.accepts(host: url.host) else { throw .notAccepted }
        do {
            let client = try rules.client(of: metadata, at: url, source: .document(document), now: now)
            latest.withLock { $0 = Latest(rules: rules, client: client) }
            return client
        } catch {
            throw .invalid(error.description)
        }
    }

    /// Returns true if a stored client is known to equal the client under the rules.
    func isKnownToEqual(_ stored: RegisteredClient, by rules: UnregisteredClientRules) -> Bool {
        latest.withLock { $0?.rules === rules && $0?.equalRevision == stored.revision }
    }

    /// Remembers that a stored client equals the client under the rules, which are those of one revision of the
    /// registry.
    func noteEqual(_ stored: RegisteredClient, by rules: UnregisteredClientRules) {
        latest.withLock { if $0?.rules === rules { $0?.equalRevision = stored.revision } }
    }

    private func known(by rules: UnregisteredClientRules) -> RegisteredClient? {
        latest.withLock { latest in
            guard let known = latest else { return nil }
            if known.rules === rules { return known.client }
            // The registry has changed, but perhaps not what determines the client.
            guard known.rules.policy == rules.policy, known.rules.scope == rules.scope else { return nil }
            latest = Latest(rules: rules, client: known.client)
            return known.client
        }
    }
}
