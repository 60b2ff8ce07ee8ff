import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/apps/{client_id}/secrets`: the secrets of a confidential client.
///
/// A new secret is shown once.
struct ClientSecrets: Sendable {
    let console: Console

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        try await page(exchange, client: try await confidential(exchange))
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let client = try await confidential(exchange)
        let (form, _) = try console.form(exchange)
        switch try form.value("decision") {
        case "add" where client.keys != nil:
            return try await page(exchange, client: client)
        case "add":
            let secret = ClientSecret(random: console.random)
            let record = ClientSecretRecord(
                digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: exchange.now)
            let event = console.event(.clientSecret, by: exchange, client: client.id, detail: "created").named(
                .clientSecretCreated)
            switch try await console.store.addClientSecret(record, recording: [event]) {
            case .added:
                console.auditor.countRecorded(event)
                return try await page(exchange, client: client, newSecret: secret)
            case .tooMany: return try await page(exchange, client: client)
            case .clientDeleted: throw NotFoundError()
            }
        case "remove":
            let chosen = try form.value("secret")
            let secrets = try await console.registry.fresh().clientSecrets(of: client.id)
            let secret = secrets.first { $0.shortID == chosen }
            // A form that is sent twice finds no secret, because the first one has deleted it.
            let event = console.event(.clientSecret, by: exchange, client: client.id, detail: "deleted").named(
                .clientSecretDeleted)
            if let secret,
                try await console.store.removeClientSecret(secret.digest, of: client.id, recording: [event])
            {
                console.auditor.countRecorded(event)
            }
            return .done(ClientNotice.secretRemoved, at: console.path(.clientSecrets, of: client.id))
        default:
            throw PageProblem.noDecision
        }
    }

    /// Shows the list of secrets, and `newSecret` in clear text if it was just created.
    func page(
        _ exchange: Console.Exchange, client: RegisteredClient, newSecret: ClientSecret? = nil,
        notice: ClientNotice? = nil
    ) async throws -> Reply {
        let records = try await console.registry.fresh().clientSecrets(of: client.id)
        let new = newSecret.map { ArtefactDigest(of: $0) }
        let action = console.path(.clientSecrets, of: client.id)
        let page = SecretsPage(
            console: console.head(exchange, of: client),
            notice: notice.map { exchange.words($0) } ?? exchange.notice(ClientNotice.self),
            client: console.summary(client, exchange),
            paths: console.paths(of: client, at: .secrets, exchange),
            newSecret: newSecret?.exposed,
            secrets: records.map {
                SecretsPage.Secret(
                    identifier: $0.shortID, made: exchange.words.moment($0.createdAt),
                    isNew: $0.digest == new)
            },
            canAdd: client.keys == nil && records.count < ClientSecretRecord.limit,
            action: action,
            ticket: console.ticket(exchange, for: action),
            usesKeys: client.keys != nil
        )
        return Reply(.ok, .page(page))
    }

    private func confidential(_ exchange: Console.Exchange) async throws -> RegisteredClient {
        let client = try await console.visibleClient(exchange)
        guard client.isConfidential else { throw NotFoundError() }
        return client
    }
}
