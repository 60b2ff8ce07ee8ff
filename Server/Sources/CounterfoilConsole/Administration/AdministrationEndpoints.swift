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
        return [
            console.handler(.firstSteps, show: firstSteps),
            console.handler(.administration, show: list),
            console.handler(.branding, show: branding.show, change: branding.change),
            console.handler(.audit, show: audit.show),
            console.handler(.unregisteredClients, show: unregistered.list),
            console.handler(.unregisteredPolicy, show: policy.show, change: policy.change),
            console.handler(.unregisteredFamily, show: unregistered.showFamily, change: unregistered.endHost),
            console.handler(.unregisteredClient, show: unregistered.show, change: unregistered.change),
        ]
    }

    @Sendable
    private func firstSteps(_ visit: Console.Visit) -> Reply {
        let page = FirstStepsPage(
            console: console.head(visit, in: .administration), paths: AdministrationPaths(console, at: .firstSteps),
            newPath: console.path(.newApp))
        return Reply(.ok, .page(page))
    }

    @Sendable
    private func list(_ visit: Console.Visit) async throws -> Reply {
        var owners: [PersonIdentifier: Person] = [:]
        let clients = try await console.store.clients()
        for owner in Set(clients.compactMap(\.owner)) { owners[owner] = try await console.store.person(owner) }
        let summaries = clients.map { client in
            AppSummary(
                client, words: visit.words, issuer: console.settings.issuer,
                owner: client.owner.flatMap { owners[$0] })
        }
        // Clients that need attention come first: PKCE exceptions, pending scopes, then unknown publishers.
        func rank(_ application: AppSummary) -> Int {
            application.hasPKCEException ? 0 : application.hasPendingScopes ? 1 : application.isVouchedFor ? 3 : 2
        }
        let ordered = (0...3).flatMap { place in summaries.filter { rank($0) == place } }
        let page = AdministrationPage(
            console: console.head(visit, in: .administration),
            notice: visit.notice(AppNotice.self) ?? visit.notice(BrandingNotice.self),
            applications: ordered,
            newPath: console.path(.newApp),
            paths: AdministrationPaths(console, at: .administration)
        )
        return Reply(.ok, .page(page))
    }
}
