@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// The pages on which developers and administrators manage clients.
struct ClientEndpoints: Sendable {
    let console: Console
    let list: ClientList
    let form: ClientForm
    let page: ClientOverview
    let secrets: ClientSecrets
    let policy: ClientPolicyForm
    let decision: ClientDecisionForm
    let logo: ClientLogoForm
    let association: ClientAssociation
    let developers: ClientDevelopers

    init(
        console: Console, encoder: LogoEncoder, associations: AssociationCheck?,
        associationChecks: PartyLimiter, challenges: ChallengeReuseDetector
    ) {
        self.console = console
        list = ClientList(console: console)
        form = ClientForm(console: console)
        page = ClientOverview(console: console, challenges: challenges)
        secrets = ClientSecrets(console: console)
        policy = ClientPolicyForm(console: console)
        decision = ClientDecisionForm(console: console)
        logo = ClientLogoForm(console: console, encoder: encoder)
        association = ClientAssociation(console: console, check: associations, looks: associationChecks)
        developers = ClientDevelopers(console: console)
    }

    var handlers: [EndpointHandler] {
        let verdicts = RedirectURIVerdicts(console: console)
        return [
            console.handler(.clients, show: list.show),
            console.handler(.availableAPIs, show: list.showAPIs),
            console.handler(.newClient, show: form.showNew, change: form.register),
            console.handler(.editClient, show: form.showEdit, change: form.change),
            console.handler(.verdicts, change: verdicts.answer),
            console.handler(.client, show: page.show),
            console.handler(.connectClient, show: page.connect),
            console.handler(.deleteClient, show: page.askToDelete, change: page.delete),
            console.handler(.clientSecrets, show: secrets.show, change: secrets.change),
            console.handler(.clientPolicy, show: policy.show, change: policy.change),
            console.handler(.clientDecision, show: decision.show, change: decision.change),
            console.handler(.clientLogo, show: logo.show, change: logo.change),
            console.handler(.clientDevelopers, show: developers.show, change: developers.change),
            console.handler(.clientInvitations, change: developers.answer),
            console.handler(.clientAssociation, show: association.show, change: association.look),
        ]
    }
}

/// `/apps`: the list of a developer's own clients.
struct ClientList: Sendable {
    let console: Console

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        let mayRegister = console.settings.registration.isOpen(to: exchange.user)
        let asked = try await console.store.clientInvitations(of: exchange.user.id, at: exchange.now)
        if !mayRegister, asked.isEmpty {
            let own = try await console.store.clientCount(matching: ClientQuery(developer: exchange.user.id))
            guard own.number > 0 else { throw RegistrationClosedError() }
        }
        let action = console.path(.clients)
        let filter = ClientFilter(exchange, developer: exchange.user.id)
        let found = try await console.clients(filter, at: action, exchange)
        let invitations = console.path(.clientInvitations)
        let page = ClientsPage(
            console: console.head(exchange, in: .clients),
            notice: exchange.notice(ClientNotice.self) ?? exchange.notice(ClientTeamNotice.self),
            problems: filter.problems(exchange.words),
            invitations: asked.map { invitation in
                ClientsPage.Invitation(
                    clientID: invitation.client.id.rawValue, name: invitation.client.displayName,
                    owner: invitation.owner.map { DisplayName(of: $0) })
            },
            invitationAction: invitations,
            ticket: console.ticket(exchange, for: invitations),
            filter: filter.form(exchange.words, action: action),
            isEmpty: filter.isWhole && found.clients.isEmpty,
            count: found.count,
            clients: found.clients,
            next: found.next,
            newPath: mayRegister ? console.path(.newClient) : nil,
            apisPath: mayRegister ? console.path(.availableAPIs) : nil
        )
        return Reply(filter.query == nil ? .badRequest : .ok, .page(page))
    }

    /// Shows the APIs that clients can use: `/apps/apis`.
    func showAPIs(_ exchange: Console.Exchange) async throws -> Reply {
        guard console.settings.registration.isOpen(to: exchange.user) else { throw RegistrationClosedError() }
        let registry = try await console.registry.atArrival()
        let texts = Dictionary(
            try await registry.scopes().map { ($0.token, exchange.words($0)) }, uniquingKeysWith: { first, _ in first })
        let page = AvailableAPIsPage(
            console: console.head(exchange, in: .clients),
            apis: try await registry.resources().map { api in
                AvailableAPIsPage.API(
                    name: DisplayName(api.name), uri: api.resource.rawValue,
                    tokenType: APIConnection(of: api, issuer: console.settings.issuer).tokenType,
                    requiresBoundTokens: api.requiresBoundTokens,
                    scopes: api.scope.tokens.map {
                        AvailableAPIsPage.APIScope(name: $0.rawValue, text: texts[$0] ?? $0.rawValue)
                    })
            },
            clientsPath: console.path(.clients))
        return Reply(.ok, .page(page))
    }
}

/// The confirmations that the pages about a client show after a form was submitted.
///
/// The last part of the raw value is the code in the query parameter `done`.
enum ClientNotice: String, LocalizationKey, Notice {
    case registered = "applications.notice.registered"
    case registeredWithStandardScopes = "applications.notice.registered-with-standard-scopes"
    case saved = "applications.notice.saved"
    case adopted = "applications.notice.adopted"
    case approved = "applications.notice.approved"
    case approvedAlone = "applications.notice.approved-alone"
    case suspended = "applications.notice.suspended"
    case resumed = "applications.notice.resumed"
    case deleted = "applications.notice.deleted"
    case secretRemoved = "applications.notice.secret-removed"

    /// Whether the next step is to connect the client.
    var isOfRegistration: Bool { self == .registered || self == .registeredWithStandardScopes }
}
