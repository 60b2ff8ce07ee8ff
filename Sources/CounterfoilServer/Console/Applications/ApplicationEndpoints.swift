import CounterfoilProtocol
import Foundation
import HTTPTypes

/// The pages on which developers and administrators look after applications.
struct ApplicationEndpoints: Sendable {
    let console: Console
    let list: ApplicationList
    let form: ApplicationForm
    let page: ApplicationOverview
    let secrets: ApplicationSecrets
    let policy: ApplicationPolicyForm
    let logo: ApplicationLogoForm
    let association: ApplicationAssociation

    init(
        console: Console, encoder: LogoEncoder, associations: AssociationCheck?, challenges: ChallengeWatch
    ) {
        self.console = console
        list = ApplicationList(console: console)
        form = ApplicationForm(console: console)
        page = ApplicationOverview(console: console, challenges: challenges)
        secrets = ApplicationSecrets(console: console)
        policy = ApplicationPolicyForm(console: console)
        logo = ApplicationLogoForm(console: console, encoder: encoder)
        association = ApplicationAssociation(console: console, check: associations)
    }

    func respond(to request: IncomingRequest, at endpoint: Endpoint, now: Date) async throws -> Reply {
        let visit = try await console.visit(request, at: endpoint, now: now)
        let isPost = request.head.method == .post
        switch endpoint {
        case .applications: return try await list.show(visit)
        case .newApplication: return isPost ? try await form.register(visit) : try await form.showNew(visit)
        case .editApplication: return isPost ? try await form.change(visit) : try await form.showEdit(visit)
        case .verdicts: return try await RedirectURIVerdicts(console: console).answer(visit)
        case .application: return try await page.show(visit)
        case .connectApplication: return try await page.connect(visit)
        case .deleteApplication: return isPost ? try await page.delete(visit) : try await page.askToDelete(visit)
        case .applicationSecrets: return isPost ? try await secrets.change(visit) : try await secrets.show(visit)
        case .applicationPolicy: return isPost ? try await policy.change(visit) : try await policy.show(visit)
        case .applicationLogo: return isPost ? try await logo.change(visit) : try await logo.show(visit)
        case .applicationAssociation:
            return isPost ? try await association.look(visit) : try await association.show(visit)
        default: throw Console.NothingHere()
        }
    }
}

/// `/apps`: a developer's own applications.
struct ApplicationList: Sendable {
    let console: Console

    func show(_ visit: Console.Visit) async throws -> Reply {
        guard console.settings.registration.isOpen(to: visit.person) else { throw Console.NothingHere() }
        let clients = try await console.store.clients(of: visit.person.id)
        let page = ApplicationsPage(
            console: console.head(visit, in: .applications),
            notice: visit.notice(ApplicationNotice.self),
            applications: clients.map { console.summary($0, visit) },
            newPath: console.path(.newApplication)
        )
        return Reply(.ok, .page(.applications(page)))
    }
}

/// What has just happened to an application, as the page after it says; the raw value ends in the code of `done`.
enum ApplicationNotice: String, Phrase, Notice {
    case registered = "applications.notice.registered"
    case saved = "applications.notice.saved"
    case deleted = "applications.notice.deleted"
    case secretRemoved = "applications.notice.secret-removed"
}
