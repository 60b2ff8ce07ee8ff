import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes
import Logging

/// `/admin/users/{user_id}/delete`: what the deletion of a user deletes, and the form that does it.
struct UserDeletion: Sendable {
    let console: Console

    private static let confirmationField = "username"
    private static let fateField = "clients"
    private static let ownerField = "owner"
    private static let clientField = "client"

    /// The values of the form field `clients`.
    private enum Fate: String, CaseIterable {
        case delete
        case transfer

        var label: UserMessage {
            switch self {
            case .delete: .deleteClients
            case .transfer: .transferClients
            }
        }
    }

    /// The parts of the page that depend on a form.
    private struct Answer {
        var problems: [FormProblem] = []
        var status = HTTPResponse.Status.badRequest
        var fate = ""
        var owner = ""
        var confirmation = ""
    }

    func ask(_ exchange: Console.Exchange) async throws -> Reply {
        try await page(try await user(exchange), exchange)
    }

    func delete(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let user = try await user(exchange)
        var answer = Answer(
            fate: try form.value(Self.fateField), owner: try form.value(Self.ownerField),
            confirmation: try form.value(Self.confirmationField))
        func refuse(_ message: UserMessage, _ field: String? = nil) {
            answer.problems.append(FormProblem(exchange.words(message), field: field))
        }
        if let delay {
            answer.problems = [FormProblem(exchange.words(delay))]
            return try await page(user, exchange, answer)
        }
        if Username(answer.confirmation) != user.username { refuse(.wrongName, Self.confirmationField) }
        // The clients that the administrator has seen: one that was registered since is not deleted with them.
        let shown = form.all(Self.clientField).compactMap { ClientIdentifier($0) }
        let owned = try await ownedClients(answer, shown: shown, of: user)
        switch Fate(rawValue: answer.fate) {
        case .transfer where owned == nil: refuse(.noOwner, Self.ownerField)
        case _ where owned == nil: refuse(.noChoice, Self.fateField)
        default: break
        }
        guard answer.problems.isEmpty, let owned else { return try await page(user, exchange, answer) }
        let changes = console.administration(exchange.user, exchange.request, exchange.now)
        switch try await changes.delete(user.id, ownedClients: owned).outcome {
        case .begun:
            console.logger.notice(
                "deleted a user",
                metadata: ["administrator": "\(exchange.user.id)", "request": "\(exchange.request.id)"])
            return .done(UserNotice.deleted, at: console.path(.users))
        case .notFound: throw NotFoundError()
        case .lastOwner: refuse(.lastOwner)
        case .ownsClients: refuse(.ownsMore, Self.fateField)
        case .newOwnerNotFound: refuse(.noOwner, Self.ownerField)
        }
        answer.status = .conflict
        return try await page(user, exchange, answer)
    }

    /// Returns what happens to the clients of the user; nil if the form does not say it.
    private func ownedClients(
        _ answer: Answer, shown: [ClientIdentifier], of user: User
    ) async throws -> RemovalTerms.OwnedClients? {
        guard !shown.isEmpty else { return .refuse }
        switch Fate(rawValue: answer.fate) {
        case .delete: return .delete(shown)
        case .transfer:
            guard let name = Username(answer.owner), let owner = try await console.store.userID(named: name),
                owner != user.id
            else { return nil }
            return .transfer(to: owner)
        case nil: return nil
        }
    }

    /// Says why the signed-in user cannot delete the account; nil if nothing speaks against it.
    private func obstacle(_ user: User, ownsClients: Bool, _ exchange: Console.Exchange) async throws -> String? {
        let changes = console.administration(exchange.user, exchange.request, exchange.now)
        if let refusal = try await changes.refusal(actingOn: user) { return exchange.words(refusal.explanation) }
        guard ownsClients, !exchange.user.may(.writeClients) else { return nil }
        let roles = UserRole.list(AdministrationRight.writeClients.roles)
        return exchange.words(LocalizedText(UserMessage.needsRole, ["roles": .nested(roles)]))
    }

    private func user(_ exchange: Console.Exchange) async throws -> User {
        guard let id = exchange.request.parameters.userID, let user = try await console.store.user(id) else {
            throw NotFoundError()
        }
        return user
    }

    private func page(_ user: User, _ exchange: Console.Exchange, _ answer: Answer? = nil) async throws -> Reply {
        guard let counts = try await console.store.removalCounts(of: user.id) else { throw NotFoundError() }
        let words = exchange.words
        func field(_ name: String, _ value: String?) -> FormField {
            FormField(name, value ?? "", problem: answer?.problems.first { $0.field == name }?.text)
        }
        let ids = try await console.store.clientIdentifiers(of: user.id)
        let clients = try await console.store.clients(of: user.id)
        let kinds: [(UserMessage, UserCount)] = [
            (.sessions, counts.sessions), (.passkeysDeleted, counts.passkeys), (.consents, counts.consents),
            (.grants, counts.grants), (.clients, counts.clients), (.events, counts.events),
        ]
        let action = console.path(.deleteUser, of: user.id)
        let page = DeleteUserPage(
            console: console.head(exchange, in: .administration),
            problems: answer?.problems ?? [],
            userPath: console.path(.user, of: user.id),
            name: DisplayName(of: user),
            username: user.username.rawValue,
            counts: kinds.map { DeleteUserPage.Count(what: words($0.0), number: words($0.1.text)) },
            clients: clients.map { console.summary($0, exchange) },
            clientIDs: ids.map(\.rawValue),
            obstacle: try await obstacle(user, ownsClients: !ids.isEmpty, exchange),
            fate: ids.isEmpty
                ? nil
                : FormChoices(
                    Self.fateField,
                    Fate.allCases.map {
                        FormChoices.Choice($0.rawValue, label: words($0.label), isChosen: $0.rawValue == answer?.fate)
                    }, problem: answer?.problems.first { $0.field == Self.fateField }?.text),
            owner: field(Self.ownerField, answer?.owner),
            confirmation: field(Self.confirmationField, answer?.confirmation),
            action: action,
            ticket: console.ticket(exchange, for: action))
        return Reply(answer?.status ?? .ok, .page(page))
    }
}
