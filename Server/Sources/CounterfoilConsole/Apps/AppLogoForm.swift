import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/apps/{client_id}/logo`: the form that replaces or removes the logo of a client.
struct AppLogoForm: Sendable {
    let console: Console
    let encoder: LogoEncoder

    func show(_ visit: Console.Visit) async throws -> Reply {
        page(visit, client: try await console.application(visit).client)
    }

    func change(_ visit: Console.Visit) async throws -> Reply {
        let application = try await console.application(visit)
        let client = application.client
        let form = try PageForm(uploading: visit.request, issuer: console.settings.issuer)
        guard try !console.checkTicketOrLate(try form.value("ticket"), of: visit).isLate else {
            return page(visit, client: client, problem: LogoFormError.pictureExpired)
        }
        try console.requireRecentSignIn(visit, losingForm: true)
        guard Int(try form.value("revision")) == client.revision else {
            return page(
                visit, client: client, problem: ClientProblem.Reason.changedMeanwhile, status: .conflict)
        }
        let change: LogoChange
        switch try form.value("decision") {
        case "remove":
            change = .remove
        case "replace":
            guard let upload = try form.file("logo"), !upload.isEmpty else {
                return page(visit, client: client, problem: LogoFormError.noPicture)
            }
            do {
                change = .replace(try await encoder.logo(from: upload))
            } catch {
                return page(visit, client: client, problem: error)
            }
        default:
            throw PageProblem.noDecision
        }
        var changed = client
        changed.changedAt = visit.now
        changed.presentation.logo = change.identifier(after: client.presentation.logo)
        changed = changed.settled(after: client, byAdministrator: application.byAdministrator)
        let events = console.events(ofChange: "changed the logo", from: client, to: changed, by: visit)
        switch try await console.store.updateClient(changed, logo: change, recording: events) {
        case .updated:
            console.auditor.countRecorded(events)
            return .done(AppNotice.saved, at: console.path(.application, of: client.id))
        case .changedMeanwhile:
            return page(
                visit, client: client, problem: ClientProblem.Reason.changedMeanwhile, status: .conflict)
        case .notFound, .unknownScopes: throw NotFoundError()
        }
    }

    private func page(
        _ visit: Console.Visit, client: RegisteredClient, problem: (any Localized)? = nil,
        status: HTTPResponse.Status? = nil
    ) -> Reply {
        let action = console.path(.applicationLogo, of: client.id)
        let said = problem.map { visit.words($0) }
        let page = LogoPage(
            console: console.head(visit, in: console.part(of: client, visit)),
            application: console.summary(client, visit),
            paths: console.paths(of: client, at: .logo, visit),
            problems: said.map { [FormProblem($0, field: "logo")] } ?? [],
            logo: FormField("logo", problem: said),
            action: action,
            ticket: console.ticket(visit, for: action),
            revision: client.revision
        )
        return Reply(status ?? (problem == nil ? .ok : .badRequest), .page(page))
    }
}

/// The errors of the logo form, except those of the image itself.
private enum LogoFormError: String, LocalizationKey {
    case noPicture = "applications.no-picture"
    case pictureExpired = "applications.picture-expired"
}
