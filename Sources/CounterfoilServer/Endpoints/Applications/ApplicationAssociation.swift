import CounterfoilProtocol
import Foundation
import HTTPTypes

/// `/apps/{client_id}/association`: whether the hosts of claimed https addresses name the application.
struct ApplicationAssociation: Sendable {
    let console: Console
    let check: AssociationCheck?

    /// The most files that one press of the button fetches.
    private static let fetchLimit = 8

    func show(_ visit: Console.Visit) async throws -> Reply {
        page(visit, client: try await claiming(visit), findings: nil)
    }

    /// Fetches only when a form asks for it, so that no link makes the server fetch anything.
    func look(_ visit: Console.Visit) async throws -> Reply {
        let client = try await claiming(visit)
        _ = try console.form(visit)
        guard let check else { throw Console.NothingHere() }
        let apps =
            client.appleApps.map(AssociationCheck.App.apple) + client.androidApps.map(AssociationCheck.App.android)
        let questions = Self.claims(client).flatMap { uri in apps.map { (uri, $0) } }.prefix(Self.fetchLimit)
        let verdicts = await withTaskGroup(of: (Int, AssociationVerdict?).self) { group in
            for (index, (uri, app)) in questions.enumerated() {
                group.addTask { (index, await check.verdict(on: app, at: uri)) }
            }
            return await group.reduce(into: [:]) { verdicts, answer in verdicts[answer.0] = answer.1 }
        }
        let findings = questions.enumerated().compactMap { index, question -> AssociationPage.Finding? in
            guard let verdict = verdicts[index] ?? nil, case .https(let host) = question.0.kind else { return nil }
            return AssociationPage.Finding(
                app: question.1.name, file: "https://\(host)\(question.1.path)", isGood: verdict.isGood,
                words: visit.words(verdict.text))
        }
        return page(visit, client: client, findings: findings)
    }

    private func claiming(_ visit: Console.Visit) async throws -> RegisteredClient {
        let client = try await console.application(visit).client
        guard client.type == .native, !Self.claims(client).isEmpty else { throw Console.NothingHere() }
        return client
    }

    /// One claimed address of each host.
    private static func claims(_ client: RegisteredClient) -> [RedirectURI] {
        var hosts: Set<String> = []
        return client.redirectURIs.filter { uri in
            if case .https(let host) = uri.kind { hosts.insert(host.lowercased()).inserted } else { false }
        }
    }

    private func page(
        _ visit: Console.Visit, client: RegisteredClient, findings: [AssociationPage.Finding]?
    ) -> Reply {
        let action = console.path(.applicationAssociation, of: client.id)
        let page = AssociationPage(
            console: console.head(visit, in: .applications),
            application: console.summary(client, visit),
            hosts: Self.claims(client).compactMap { if case .https(let host) = $0.kind { host } else { nil } },
            hasApps: !client.appleApps.isEmpty || !client.androidApps.isEmpty,
            findings: findings,
            action: action,
            ticket: console.ticket(visit, for: action)
        )
        return Reply(.ok, .page(.association(page)))
    }
}

extension AssociationCheck.App {
    /// The name that the file should hold.
    fileprivate var name: String {
        switch self {
        case .apple(let app): app.rawValue
        case .android(let app): app.packageName
        }
    }
}
