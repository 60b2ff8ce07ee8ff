import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// The pages for administrators; other users get status 404.
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
        let newUser = NewUserForm(console: console)
        let account = UserAccount(console: console)
        let deletion = UserDeletion(console: console)
        let scopes = ScopeRegistry(console: console)
        let apis = APIRegistry(console: console)
        return [
            console.handler(.overview, show: Overview(console: console).show),
            console.handler(.administration, show: list),
            console.handler(.users, show: UserList(console: console).show),
            console.handler(.newUser, show: newUser.show, change: newUser.add),
            console.handler(.user, show: account.show, change: account.change),
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
        var owners: [UserIdentifier: User] = [:]
        let clients = try await console.store.clients()
        for owner in Set(clients.compactMap(\.owner)) { owners[owner] = try await console.store.user(owner) }
        let summaries = clients.map { client in
            ClientSummary(
                client, words: exchange.words, issuer: console.settings.issuer,
                owner: client.owner.flatMap { owners[$0] })
        }
        // Clients that need attention come first: those that wait, PKCE exceptions, pending scopes, those in
        // development, then unknown publishers.
        func rank(_ client: ClientSummary) -> Int {
            if client.isSuspended { return 5 }
            if client.isPending { return 0 }
            if client.hasPKCEException { return 1 }
            if client.hasPendingScopes { return 2 }
            return client.isInDevelopment ? 3 : client.isVouchedFor ? 5 : 4
        }
        let ordered = (0...5).flatMap { place in summaries.filter { rank($0) == place } }
        let page = AdministrationPage(
            console: console.head(exchange, in: .administration),
            notice: exchange.notice(ClientNotice.self) ?? exchange.notice(BrandingNotice.self),
            waiting: [
                (WaitingMessage.pending, summaries.count { $0.isPending && !$0.isSuspended }),
                (.inDevelopment, summaries.count { $0.isInDevelopment && !$0.isSuspended }),
            ].filter { $0.1 > 0 }.map { exchange.words(LocalizedText($0.0, ["count": .number($0.1)])) },
            clients: ordered,
            newPath: console.path(.newClient),
            paths: AdministrationPaths(console, at: .administration)
        )
        return Reply(.ok, .page(page))
    }
}

/// The texts about clients that wait for an administrator.
private enum WaitingMessage: String, LocalizationKey {
    case pending = "administration.waiting"
    case inDevelopment = "administration.in-development"
}
