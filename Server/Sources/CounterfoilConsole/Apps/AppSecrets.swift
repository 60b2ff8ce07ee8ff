import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/apps/{client_id}/secrets`: the secrets of a confidential client.
///
/// A new secret is shown once.
struct AppSecrets: Sendable {
    let console: Console

    func show(_ visit: Console.Visit) async throws -> Reply {
        try await page(visit, client: try await confidential(visit))
    }

    func change(_ visit: Console.Visit) async throws -> Reply {
        let client = try await confidential(visit)
        let (form, _) = try console.form(visit)
        switch try form.value("decision") {
        case "add" where client.keys != nil:
            return try await page(visit, client: client)
        case "add":
            let secret = ClientSecret(random: console.random)
            let record = ClientSecretRecord(
                digest: ArtefactDigest(of: secret), clientID: client.id, createdAt: visit.now)
            let event = console.event(.applicationSecret, by: visit, client: client.id, detail: "created")
            switch try await console.store.addClientSecret(record, recording: [event]) {
            case .added:
                console.auditor.countRecorded(event)
                return try await page(visit, client: client, newSecret: secret)
            case .tooMany: return try await page(visit, client: client)
            case .clientDeleted: throw NotFoundError()
            }
        case "remove":
            let chosen = try form.value("secret")
            let secrets = try await console.registry.fresh().clientSecrets(of: client.id)
            let secret = secrets.first { $0.shortID == chosen }
            // A form that is sent twice finds no secret, because the first one has deleted it.
            let event = console.event(.applicationSecret, by: visit, client: client.id, detail: "deleted")
            if let secret,
                try await console.store.removeClientSecret(secret.digest, of: client.id, recording: [event])
            {
                console.auditor.countRecorded(event)
            }
            return .done(AppNotice.secretRemoved, at: console.path(.applicationSecrets, of: client.id))
        default:
            throw PageProblem.noDecision
        }
    }

    /// Shows the list of secrets, and `newSecret` in clear text if it was just created.
    func page(
        _ visit: Console.Visit, client: RegisteredClient, newSecret: ClientSecret? = nil, notice: AppNotice? = nil
    ) async throws -> Reply {
        let records = try await console.registry.fresh().clientSecrets(of: client.id)
        let new = newSecret.map { ArtefactDigest(of: $0) }
        let action = console.path(.applicationSecrets, of: client.id)
        let page = SecretsPage(
            console: console.head(visit, in: console.part(of: client, visit)),
            notice: notice.map { visit.words($0) } ?? visit.notice(AppNotice.self),
            application: console.summary(client, visit),
            paths: console.paths(of: client, at: .secrets, visit),
            newSecret: newSecret?.exposed,
            secrets: records.map {
                SecretsPage.Secret(
                    identifier: $0.shortID, made: visit.words.moment($0.createdAt),
                    isNew: $0.digest == new)
            },
            canAdd: client.keys == nil && records.count < ClientSecretRecord.limit,
            action: action,
            ticket: console.ticket(visit, for: action),
            usesKeys: client.keys != nil
        )
        return Reply(.ok, .page(page))
    }

    private func confidential(_ visit: Console.Visit) async throws -> RegisteredClient {
        let client = try await console.application(visit).client
        guard client.isConfidential else { throw NotFoundError() }
        return client
    }
}
