import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/apps/{client_id}/logo`: the form that replaces or removes the logo of a client.
struct ClientLogoForm: Sendable {
    let console: Console
    let encoder: LogoEncoder

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        try await page(exchange, client: try await console.accessibleClient(exchange).client)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let accessible = try await console.accessibleClient(exchange)
        let client = accessible.client
        let form = try PageForm(uploading: exchange.request, issuer: console.settings.issuer)
        guard try !console.checkTicketOrLate(try form.value("ticket"), of: exchange).isLate else {
            return try await page(exchange, client: client, problem: LogoFormError.imageExpired)
        }
        try console.requireRecentSignIn(exchange, losingForm: true)
        guard Int(try form.value("revision")) == client.revision else {
            return try await page(
                exchange, client: client, problem: ClientProblem.Reason.changedMeanwhile, status: .conflict)
        }
        let change: LogoChange
        switch try form.value("decision") {
        case "remove":
            change = .remove
        case "replace":
            guard let upload = try form.file("logo"), !upload.isEmpty else {
                return try await page(exchange, client: client, problem: LogoFormError.noImage)
            }
            do {
                change = .replace(try await encoder.logo(from: upload))
            } catch {
                return try await page(exchange, client: client, problem: error)
            }
        default:
            throw PageProblem.noDecision
        }
        var changed = client
        changed.changedAt = exchange.now
        changed.presentation.logo = change.identifier(after: client.presentation.logo)
        changed = changed.settled(
            after: client, byAdministrator: accessible.byAdministrator, unapproved: console.settings.newClients)
        let events = console.events(ofChange: "changed the logo", from: client, to: changed, by: exchange)
        switch try await console.store.updateClient(changed, logo: change, recording: events) {
        case .updated:
            console.auditor.countRecorded(events)
            return .done(ClientNotice.saved, at: console.path(.client, of: client.id))
        case .changedMeanwhile:
            return try await page(
                exchange, client: client, problem: ClientProblem.Reason.changedMeanwhile, status: .conflict)
        case .notFound, .unknownScopes: throw NotFoundError()
        }
    }

    private func page(
        _ exchange: Console.Exchange, client: RegisteredClient, problem: (any Localized)? = nil,
        status: HTTPResponse.Status? = nil
    ) async throws -> Reply {
        let action = console.path(.clientLogo, of: client.id)
        let loss = try await console.approvalLoss(byChanging: client, exchange)
        let said = problem.map { exchange.words($0) }
        let page = LogoPage(
            console: console.head(exchange, of: client),
            client: console.summary(client, exchange),
            paths: console.paths(of: client, at: .logo, exchange),
            problems: said.map { [FormProblem($0, field: "logo")] } ?? [],
            logo: FormField("logo", problem: said),
            endsApproval: loss.signIns,
            losesReserved: loss.reservedScopes,
            action: action,
            ticket: console.ticket(exchange, for: action),
            revision: client.revision
        )
        return Reply(status ?? (problem == nil ? .ok : .badRequest), .page(page))
    }
}

/// The errors of the logo form, except those of the image itself.
private enum LogoFormError: String, LocalizationKey {
    case noImage = "applications.no-picture"
    case imageExpired = "applications.picture-expired"
}
