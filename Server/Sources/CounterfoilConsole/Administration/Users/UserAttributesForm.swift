@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import HTTPTypes

/// `/admin/users/{user_id}/claims`: the groups and attributes of a user, and what an app gets of them.
struct UserAttributesForm: Sendable {
    private typealias Field = UserAttributesDraft.Field

    let console: Console

    /// The number of apps that the page offers for a preview.
    private static let appLimit = 20
    /// The query parameter with the client of the preview.
    private static let parameter = "client_id"

    /// The parts of the page that depend on a form.
    private struct Answer {
        var problems: [FormProblem] = []
        var status = HTTPResponse.Status.ok
        /// The values as they were typed; nil for the stored ones.
        var typed: UserAttributesDraft?
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        let user = try await user(exchange)
        let typed = exchange.queried(Self.parameter)?.trimmingWhitespace() ?? ""
        guard !typed.isEmpty else { return try await page(of: user, exchange) }
        guard let client = try await client(typed) else {
            let problem = FormProblem(exchange.words(UserAttributesMessage.noApp), field: Self.parameter)
            return try await page(of: user, exchange, Answer(problems: [problem], status: .notFound), previewing: typed)
        }
        let claims = try await console.claimPreviews.preview(of: user, at: client)
        let preview = UserAttributesPage.Preview(
            name: client.displayName, scope: claims.scope.description, isAllowed: claims.isAllowed,
            idToken: try claims.idToken.map(ClaimPreview.text), accessToken: try ClaimPreview.text(claims.accessToken),
            userInfo: try claims.userInfo.map(ClaimPreview.text))
        return try await page(of: user, exchange, previewing: typed, preview)
    }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let user = try await user(exchange)
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let draft = UserAttributesDraft(
            groups: try form.value(Field.groups.rawValue), attributes: try form.value(Field.attributes.rawValue))
        func again(_ problems: [FormProblem], _ status: HTTPResponse.Status = .badRequest) async throws -> Reply {
            try await page(of: user, exchange, Answer(problems: problems, status: status, typed: draft))
        }
        func changedMeanwhile() async throws -> Reply {
            try await again([FormProblem(exchange.words(UserMessage.changedMeanwhile))], .conflict)
        }
        let stored = try await console.store.attributes(of: user.id)
        guard try form.value("revision") == stored.revision else { return try await changedMeanwhile() }
        if let delay { return try await again([FormProblem(exchange.words(delay))]) }
        let attributes: UserAttributes
        do { attributes = try draft.checked() } catch {
            return try await again(
                error.problems.map { FormProblem(exchange.words($0.problem), field: $0.field.rawValue) })
        }
        let path = console.path(.userClaims, of: user.id)
        guard attributes != stored else { return .done(UserAttributesNotice.saved, at: path) }
        let changes = console.administration(exchange.user, exchange.request, exchange.now)
        switch try await changes.changeAttributes(of: user.id, from: stored, to: attributes) {
        case .updated: return .done(UserAttributesNotice.saved, at: path)
        case .changedMeanwhile, .emailTaken: return try await changedMeanwhile()
        case .notFound: throw NotFoundError()
        }
    }

    private func user(_ exchange: Console.Exchange) async throws -> User {
        guard let id = exchange.request.parameters.userID, let user = try await console.store.user(id) else {
            throw NotFoundError()
        }
        return user
    }

    private func client(_ typed: String) async throws -> RegisteredClient? {
        guard let id = ClientIdentifier(typed) else { return nil }
        return try await console.registry.atArrival().client(id)
    }

    private func page(
        of user: User, _ exchange: Console.Exchange, _ answer: Answer = Answer(), previewing client: String = "",
        _ preview: UserAttributesPage.Preview? = nil
    ) async throws -> Reply {
        let stored = try await console.store.attributes(of: user.id)
        let draft = answer.typed ?? UserAttributesDraft(stored)
        let action = console.path(.userClaims, of: user.id)
        func field(_ name: String, _ value: String) -> FormField {
            FormField(name, value, problem: answer.problems.first { $0.field == name }?.text)
        }
        let consents = try await console.store.consents(of: user.id, after: nil, limit: Self.appLimit)
        let refusal = try await console.administration(exchange.user, exchange.request, exchange.now)
            .refusal(actingOn: user)
        let page = UserAttributesPage(
            console: console.head(exchange, in: .administration, mayChange: refusal == nil),
            notice: exchange.notice(UserAttributesNotice.self),
            problems: answer.problems,
            userPath: console.path(.user, of: user.id),
            name: DisplayName(of: user),
            groups: field(Field.groups.rawValue, draft.groups),
            attributes: field(Field.attributes.rawValue, draft.attributes),
            list: AttributeList(stored),
            client: field(Self.parameter, client),
            apps: consents.map { facts in
                let query = FormParameters([Self.parameter: facts.client.id.rawValue]).encoded
                return UserAttributesPage.App(name: facts.client.displayName, path: "\(action)?\(query)")
            },
            preview: preview,
            action: action,
            ticket: console.ticket(exchange, for: action),
            revision: stored.revision)
        return Reply(answer.status, .page(page))
    }
}

/// The confirmation that the page of groups and attributes shows after a form was submitted.
enum UserAttributesNotice: String, LocalizationKey, Notice {
    case saved = "claims.notice.saved"
}

/// The errors of the page of groups and attributes.
private enum UserAttributesMessage: String, LocalizationKey {
    case noApp = "claims.no-app"
}
