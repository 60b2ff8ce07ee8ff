@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// The pages on which developers and administrators manage clients.
struct AppEndpoints: Sendable {
    let console: Console
    let list: ApplicationList
    let form: AppForm
    let page: AppOverview
    let secrets: AppSecrets
    let policy: AppPolicyForm
    let logo: AppLogoForm
    let association: AppAssociation

    init(
        console: Console, encoder: LogoEncoder, associations: AssociationCheck?,
        associationChecks: AssociationCheckLimiter, challenges: ChallengeReuseDetector
    ) {
        self.console = console
        list = ApplicationList(console: console)
        form = AppForm(console: console)
        page = AppOverview(console: console, challenges: challenges)
        secrets = AppSecrets(console: console)
        policy = AppPolicyForm(console: console)
        logo = AppLogoForm(console: console, encoder: encoder)
        association = AppAssociation(console: console, check: associations, looks: associationChecks)
    }

    var handlers: [EndpointHandler] {
        let verdicts = RedirectURIVerdicts(console: console)
        return [
            console.handler(.applications, show: list.show),
            console.handler(.newApp, show: form.showNew, change: form.register),
            console.handler(.editApp, show: form.showEdit, change: form.change),
            console.handler(.verdicts, change: verdicts.answer),
            console.handler(.application, show: page.show),
            console.handler(.connectApp, show: page.connect),
            console.handler(.deleteApp, show: page.askToDelete, change: page.delete),
            console.handler(.applicationSecrets, show: secrets.show, change: secrets.change),
            console.handler(.applicationPolicy, show: policy.show, change: policy.change),
            console.handler(.applicationLogo, show: logo.show, change: logo.change),
            console.handler(.applicationAssociation, show: association.show, change: association.look),
        ]
    }
}

/// `/apps`: the list of a developer's own clients.
struct ApplicationList: Sendable {
    let console: Console

    func show(_ visit: Console.Visit) async throws -> Reply {
        guard console.settings.registration.isOpen(to: visit.person) else { throw RegistrationClosedError() }
        let clients = try await console.store.clients(of: visit.person.id)
        let page = AppsPage(
            console: console.head(visit, in: .applications),
            notice: visit.notice(AppNotice.self),
            applications: clients.map { console.summary($0, visit) },
            newPath: console.path(.newApp)
        )
        return Reply(.ok, .page(page))
    }
}

/// The confirmations that the pages about a client show after a form was submitted.
///
/// The last part of the raw value is the code in the query parameter `done`.
enum AppNotice: String, LocalizationKey, Notice {
    case registered = "applications.notice.registered"
    case registeredWithStandardScopes = "applications.notice.registered-with-standard-scopes"
    case saved = "applications.notice.saved"
    case adopted = "applications.notice.adopted"
    case deleted = "applications.notice.deleted"
    case secretRemoved = "applications.notice.secret-removed"

    /// Whether the next step is to connect the client.
    var isOfRegistration: Bool { self == .registered || self == .registeredWithStandardScopes }
}
