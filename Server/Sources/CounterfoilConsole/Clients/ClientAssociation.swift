import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/apps/{client_id}/association`: the check that the association files on the hosts of claimed https redirect URIs
/// name the apps of the client.
///
/// If such a file does not name an app, the platform opens the redirect URI in the browser instead of the app.
struct ClientAssociation: Sendable {
    let console: Console
    let check: AssociationCheck?
    let looks: PartyLimiter

    /// The maximum number of files that one request fetches.
    private static let fetchLimit = 8

    /// An association file, and the apps that it should name.
    private struct Question: Sendable {
        let uri: RedirectURI
        let apps: [AssociationCheck.App]

        /// The URL of the association file on the host of `uri`.
        var file: String {
            guard case .https(let host) = uri.kind, let app = apps.first else { return uri.rawValue }
            return "https://\(host)\(app.path)"
        }
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        Reply(.ok, .page(page(exchange, client: try await claiming(exchange))))
    }

    /// Fetches and checks the association files, within a rate limit for each user.
    ///
    /// Only a form with an anti-CSRF token can start the check, so that no link can make the server send requests.
    func look(_ exchange: Console.Exchange) async throws -> Reply {
        let client = try await claiming(exchange)
        _ = try console.form(exchange)
        guard let check else { throw NotFoundError() }
        var page = page(exchange, client: client)
        if let seconds = looks.admit(.user(exchange.user.id), at: exchange.now) {
            page.wait = exchange.words(LocalizedText("association.wait", ["count": .number(seconds)]))
            return Reply(
                .tooManyRequests, .page(page), fields: [.retryAfter: String(seconds)])
        }
        let questions = Self.questions(client)
        page.notLookedAt = questions.dropFirst(Self.fetchLimit).map(\.file)
        page.findings = await findings(questions.prefix(Self.fetchLimit), check: check, words: exchange.words)
        return Reply(.ok, .page(page))
    }

    private func findings(
        _ questions: some Collection<Question> & Sendable, check: AssociationCheck, words: Localizer
    ) async -> [AssociationPage.Finding] {
        let verdicts = await withTaskGroup(of: (Int, [AssociationVerdict]).self) { group in
            for (index, question) in questions.enumerated() {
                group.addTask { (index, await check.verdicts(on: question.apps, at: question.uri)) }
            }
            return await group.reduce(into: [:]) { verdicts, answer in verdicts[answer.0] = answer.1 }
        }
        return questions.enumerated().flatMap { index, question in
            zip(question.apps, verdicts[index] ?? []).map { app, verdict in
                AssociationPage.Finding(
                    app: app.name, file: question.file, isGood: verdict.isGood, words: words(verdict))
            }
        }
    }

    private func claiming(_ exchange: Console.Exchange) async throws -> RegisteredClient {
        let client = try await console.visibleClient(exchange)
        guard client.type == .native, !Self.claims(client).isEmpty else { throw NotFoundError() }
        return client
    }

    /// Returns one claimed redirect URI for each host.
    private static func claims(_ client: RegisteredClient) -> [RedirectURI] {
        var hosts: Set<String> = []
        return client.redirectURIs.filter { uri in
            if case .https(let host) = uri.kind { hosts.insert(host.lowercased()).inserted } else { false }
        }
    }

    /// Returns the files that should name the apps: for each host at most two, one per platform.
    private static func questions(_ client: RegisteredClient) -> [Question] {
        let platforms = [
            client.appleApps.map(AssociationCheck.App.apple), client.androidApps.map(AssociationCheck.App.android),
        ].filter { !$0.isEmpty }
        return claims(client).flatMap { uri in platforms.map { Question(uri: uri, apps: $0) } }
    }

    private func page(_ exchange: Console.Exchange, client: RegisteredClient) -> AssociationPage {
        let action = console.path(.clientAssociation, of: client.id)
        return AssociationPage(
            console: console.head(exchange, of: client),
            client: console.summary(client, exchange),
            paths: console.paths(of: client, at: .association, exchange),
            hosts: Self.claims(client).compactMap { if case .https(let host) = $0.kind { host } else { nil } },
            hasApps: !client.appleApps.isEmpty || !client.androidApps.isEmpty,
            action: action,
            ticket: console.ticket(exchange, for: action)
        )
    }
}

extension AssociationCheck.App {
    /// The identifier that the file should contain.
    fileprivate var name: String {
        switch self {
        case .apple(let app): app.rawValue
        case .android(let app): app.packageName
        }
    }
}
