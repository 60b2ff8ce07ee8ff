import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/apps/{client_id}/developers`: the users who manage a client with its owner, and `/apps/invitations`, to which a
/// user who is asked answers.
struct ClientDevelopers: Sendable {
    let console: Console

    /// The values of the form field `decision`.
    private enum Decision: String {
        case add, remove, withdraw
        case handOver = "hand-over"
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        try await page(try await console.accessibleClient(exchange), exchange)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let accessible = try await console.accessibleClient(exchange)
        let form = try PageForm(exchange.request, issuer: console.settings.issuer)
        let name = try form.value("username")
        func again(_ problem: some Localized, _ status: HTTPResponse.Status, field: String? = "username") async throws
            -> Reply
        {
            try await page(
                accessible, exchange, username: name, problem: FormProblem(exchange.words(problem), field: field),
                status: status)
        }
        guard let decision = Decision(rawValue: try form.value("decision")) else { throw PageProblem.noDecision }
        if decision == .add {
            let (_, delay) = try await console.check(form, of: exchange)
            if let delay { return try await again(delay, .badRequest, field: nil) }
        } else {
            _ = try console.form(exchange)
        }
        let client = accessible.client
        let team = console.team(exchange.user, exchange.request, exchange.now)
        let path = console.path(.clientDevelopers, of: client.id)
        switch decision {
        case .add:
            guard let username = Username(name) else { return try await again(TeamMessage.badUsername, .badRequest) }
            let user = try await console.store.user(named: username)
            guard accessible.byAdministrator else {
                if let seconds = console.developerQuestions.admit(.user(exchange.user.id), at: exchange.now) {
                    let wait = LocalizedText(
                        TeamMessage.asksMany, ["count": .number(Int((Double(seconds) / 60).rounded(.up)))])
                    return try await again(wait, .tooManyRequests)
                }
                // The answer and the list do not tell a developer whether there is such a user.
                switch try await team.ask(username, user, to: client.id) {
                case .changed, .unchanged, .tooMany: return .done(ClientTeamNotice.asked, at: path)
                case .tooManyQuestions: return try await again(TeamMessage.tooManyQuestions, .conflict)
                case .notFound, .notAllowed, .changedMeanwhile: throw NotFoundError()
                }
            }
            guard let user else { return try await again(TeamMessage.noUser, .badRequest) }
            switch try await team.add(user, to: client.id) {
            case .changed, .unchanged: return .done(ClientTeamNotice.added, at: path)
            case .tooMany: return try await again(TeamMessage.tooMany, .conflict)
            case .tooManyQuestions, .notFound, .notAllowed, .changedMeanwhile: throw NotFoundError()
            }
        case .withdraw:
            guard let username = Username(name) else { throw NotFoundError() }
            switch try await team.withdraw(username, from: client.id) {
            case .changed, .unchanged: return .done(ClientTeamNotice.withdrawn, at: path)
            case .tooMany, .tooManyQuestions, .notFound, .notAllowed, .changedMeanwhile: throw NotFoundError()
            }
        case .remove:
            guard let user = try await developer(form, of: client) else {
                return .done(ClientTeamNotice.removed, at: path)
            }
            switch try await team.remove(user, from: client.id) {
            case .changed, .unchanged: break
            case .tooMany, .tooManyQuestions, .notFound, .notAllowed, .changedMeanwhile: throw NotFoundError()
            }
            guard user.id != exchange.user.id || accessible.byOwner else {
                return .done(ClientTeamNotice.left, at: console.path(.clients))
            }
            return .done(ClientTeamNotice.removed, at: path)
        case .handOver:
            guard accessible.byOwner, let user = try await developer(form, of: client) else { throw NotFoundError() }
            switch try await team.handOver(client, to: user) {
            case .changed: return .done(ClientTeamNotice.handedOver, at: path)
            case .tooMany: return try await again(TeamMessage.ownsMany, .conflict, field: nil)
            case .changedMeanwhile: return try await again(TeamMessage.changedMeanwhile, .conflict, field: nil)
            case .unchanged, .notFound, .notAllowed, .tooManyQuestions: throw NotFoundError()
            }
        }
    }

    /// Accepts or declines the invitation to manage the client that a form names.
    func answer(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        guard let client = ClientIdentifier(try form.value("client")) else { throw NotFoundError() }
        let team = console.team(exchange.user, exchange.request, exchange.now)
        let path = console.path(.clients)
        switch try form.value("decision") {
        case "accept":
            switch try await team.accept(client) {
            case .changed: return .done(ClientTeamNotice.accepted, at: path)
            case .tooMany: return .done(ClientTeamNotice.full, at: path)
            case .unchanged, .notFound, .notAllowed, .tooManyQuestions, .changedMeanwhile:
                return .done(ClientTeamNotice.gone, at: path)
            }
        case "decline":
            _ = try await team.decline(client)
            return .done(ClientTeamNotice.declined, at: path)
        default: throw PageProblem.noDecision
        }
    }

    /// Returns the user whom a form names, if the user manages the client.
    private func developer(_ form: PageForm, of client: RegisteredClient) async throws -> User? {
        let name = try form.value("username")
        return try await console.store.developers(of: client.id).map(\.user).first { $0.username.rawValue == name }
    }

    private func page(
        _ accessible: AccessibleClient, _ exchange: Console.Exchange, username: String = "",
        problem: FormProblem? = nil, status: HTTPResponse.Status = .ok
    ) async throws -> Reply {
        let client = accessible.client
        let developers = try await console.store.developers(of: client.id)
        var owner: User?
        if let id = client.owner { owner = try await console.store.user(id) }
        let action = console.path(.clientDevelopers, of: client.id)
        let page = ClientDevelopersPage(
            console: console.head(exchange, of: client),
            notice: exchange.notice(ClientTeamNotice.self),
            problems: problem.map { [$0] } ?? [],
            client: console.summary(client, exchange),
            paths: console.paths(of: client, at: .developers, exchange),
            owner: owner.map { DisplayName(of: $0) },
            developers: developers.map { developer in
                ClientDevelopersPage.Developer(
                    name: DisplayName(of: developer.user), username: developer.user.username.rawValue,
                    since: exchange.words.date(developer.since), isSelf: developer.user.id == exchange.user.id)
            },
            questions: try await console.store.clientQuestions(of: client.id, at: exchange.now).map { question in
                ClientDevelopersPage.Question(
                    username: question.username.rawValue, expires: exchange.words.date(question.expires))
            },
            maySetOwner: accessible.byOwner,
            isAdministrator: accessible.byAdministrator,
            username: FormField(
                "username", problem?.field == "username" ? username : "",
                problem: problem?.field == "username" ? problem?.text : nil),
            canAdd: developers.count < ClientDeveloper.limit,
            action: action,
            ticket: console.ticket(exchange, for: action))
        return Reply(status, .page(page))
    }
}

/// The confirmations about the users who manage a client.
enum ClientTeamNotice: String, LocalizationKey, Notice {
    case asked = "developers.notice.asked"
    case added = "developers.notice.added"
    case removed = "developers.notice.removed"
    case withdrawn = "developers.notice.withdrawn"
    case left = "developers.notice.left"
    case handedOver = "developers.notice.handed-over"
    case accepted = "developers.notice.accepted"
    case declined = "developers.notice.declined"
    case gone = "developers.notice.gone"
    case full = "developers.notice.full"
}

/// The errors about the users who manage a client.
private enum TeamMessage: String, LocalizationKey {
    case badUsername = "developers.bad-username"
    case noUser = "developers.no-user"
    case tooMany = "developers.too-many"
    case ownsMany = "developers.owns-many"
    case tooManyQuestions = "developers.asked-many"
    /// Placeholder `count`, the number of minutes.
    case asksMany = "developers.asks-many"
    case changedMeanwhile = "developers.changed-meanwhile"
}
