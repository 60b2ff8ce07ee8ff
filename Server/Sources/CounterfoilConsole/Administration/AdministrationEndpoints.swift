import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// The pages of the administration, each for the users whose role has its right.
struct AdministrationEndpoints: Sendable {
    let console: Console
    let branding: BrandingForm

    init(console: Console, encoder: LogoEncoder) {
        self.console = console
        branding = BrandingForm(console: console, encoder: encoder)
    }

    var handlers: [EndpointHandler] {
        let audit = AuditLog(console: console)
        let unregistered = UnregisteredClients(console: console)
        let policy = UnregisteredPolicyForm(console: console)
        let invitations = InvitationForm(console: console)
        let newUser = NewUserForm(console: console)
        let account = UserAccount(console: console)
        let attributes = UserAttributesForm(console: console)
        let deletion = UserDeletion(console: console)
        let scopes = ScopeRegistry(console: console)
        let apis = APIRegistry(console: console)
        let keys = SigningKeyPages(console: console)
        let state = ServerState(console: console)
        let certificate = CertificateRenewal(console: console)
        let tokens = RegistrationTokens(console: console)
        let testMail = TestMailForm(console: console)
        let webhooks = WebhookRegistry(console: console)
        let webhook = WebhookAccount(console: console)
        return [
            console.handler(.server, show: state.show, change: state.check),
            console.handler(.certificate, show: certificate.show, change: certificate.request),
            console.handler(.serverSettings, show: SettingsInUse(console: console).show),
            console.handler(.keys, show: keys.list),
            console.handler(.rotateKey, show: keys.askToRotate, change: keys.rotate),
            console.handler(.withdrawKey, show: keys.askToWithdraw, change: keys.withdraw),
            console.handler(.registrationTokens, show: tokens.show, change: tokens.change),
            console.handler(.testMail, show: testMail.show, change: testMail.send),
            console.handler(.overview, show: Overview(console: console).show),
            console.handler(.administration, show: list),
            console.handler(.users, show: UserList(console: console).show),
            console.handler(.invitations, show: invitations.show, change: invitations.change),
            console.handler(.newUser, show: newUser.show, change: newUser.add),
            console.handler(.user, show: account.show, change: account.change),
            console.handler(.userClaims, show: attributes.show, change: attributes.change),
            console.handler(.deleteUser, show: deletion.ask, change: deletion.delete),
            console.handler(.scopes, show: scopes.list),
            console.handler(.newScope, show: scopes.showNew, change: scopes.add),
            console.handler(.editScope, show: scopes.showEdit, change: scopes.change),
            console.handler(.deleteScope, show: scopes.askToDelete, change: scopes.delete),
            console.handler(.apis, show: apis.list),
            console.handler(.newAPI, show: apis.showNew, change: apis.add),
            console.handler(.api, show: apis.show, change: apis.replaceSecret),
            console.handler(.editAPI, show: apis.showEdit, change: apis.change),
            console.handler(.deleteAPI, show: apis.askToDelete, change: apis.delete),
            console.handler(.webhooks, show: webhooks.list),
            console.handler(.newWebhook, show: webhooks.showNew, change: webhooks.add),
            console.handler(.webhook, show: webhook.show, change: webhook.change),
            console.handler(.editWebhook, show: webhooks.showEdit, change: webhooks.change),
            console.handler(.deleteWebhook, show: webhooks.askToDelete, change: webhooks.delete),
            console.handler(.branding, show: branding.show, change: branding.change),
            console.handler(.mailPreview, show: MailPreview(console: console).show),
            console.handler(.audit, show: audit.show, change: audit.export),
            console.handler(.unregisteredClients, show: unregistered.list),
            console.handler(.unregisteredPolicy, show: policy.show, change: policy.change),
            console.handler(.unregisteredFamily, show: unregistered.showFamily, change: unregistered.endHost),
            console.handler(.unregisteredClient, show: unregistered.show, change: unregistered.change),
        ]
    }

    @Sendable
    private func list(_ exchange: Console.Exchange) async throws -> Reply {
        let action = console.path(.administration)
        let filter = ClientFilter(exchange, developer: nil)
        let found = try await console.clients(filter, at: action, exchange)
        let waiting = try await console.store.clientCounts().waiting.map { waiting in
            AdministrationPage.Waiting(
                text: exchange.words(LocalizedText(waiting.message, ["count": .number(waiting.count)])),
                path: ClientFilter.path(of: action, in: waiting.state))
        }
        let page = AdministrationPage(
            console: console.head(exchange, in: .administration),
            notice: exchange.notice(ClientNotice.self) ?? exchange.notice(BrandingNotice.self),
            problems: filter.problems(exchange.words),
            waiting: waiting,
            filter: filter.form(exchange.words, action: action),
            isEmpty: filter.isWhole && found.clients.isEmpty,
            count: found.count,
            clients: found.clients,
            next: found.next,
            newPath: console.path(.newClient),
            paths: AdministrationPaths(console, exchange, at: .administration)
        )
        return Reply(filter.query == nil ? .badRequest : .ok, .page(page))
    }
}

/// The texts about clients that wait for an administrator.
enum WaitingMessage: String, LocalizationKey {
    case pending = "administration.waiting"
    case machineAccess = "administration.waiting-scopes"
    case inDevelopment = "administration.in-development"
}

extension ClientCounts {
    /// The states with clients that wait for an administrator, with their text and number.
    var waiting: [(state: ClientQuery.State, message: WaitingMessage, count: Int)] {
        let all: [(state: ClientQuery.State, message: WaitingMessage, count: Int)] = [
            (.pending, .pending, pending), (.machineAccess, .machineAccess, machineAccess),
            (.development, .inDevelopment, inDevelopment),
        ]
        return all.filter { $0.count > 0 }
    }
}
