import CounterfoilProtocol
import Foundation

/// The client that a document describes.
///
/// The rules that turn the metadata into a client parse each URL in it. They are applied again only after the policy or
/// the scopes of the server have changed.
final class DescribedClient: Sendable {
    /// The metadata in the document.
    let metadata: ClientMetadata
    private let document: [UInt8]
    private let url: ClientDocumentURL
    private let latest = Mutex<(policy: UnregisteredClientPolicy, scope: Scope, client: RegisteredClient)?>(nil)

    init(_ metadata: ClientMetadata, in document: [UInt8], at url: ClientDocumentURL) {
        self.metadata = metadata
        self.document = document
        self.url = url
    }

    /// Returns the client under the rules of the server.
    ///
    /// - Throws: ``ClientDocumentRefusal/invalid(_:)`` if the document describes no client that can be used.
    func client(by rules: UnregisteredClientRules, now: Date) throws(ClientDocumentRefusal) -> RegisteredClient {
        if let latest = latest.withLock({ $0 }), latest.policy == rules.policy, latest.scope == rules.scope {
            var client = latest.client
            (client.createdAt, client.changedAt) = (now, now)
            return client
        }
        do {
            let client = try rules.client(of: metadata, at: url, source: .document(document), now: now)
            latest.withLock { $0 = (rules.policy, rules.scope, client) }
            return client
        } catch {
            throw .invalid(error.description)
        }
    }
}
