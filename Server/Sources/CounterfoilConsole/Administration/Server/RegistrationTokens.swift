@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin/registration-tokens`: the tokens with which apps may register themselves.
struct RegistrationTokens: Sendable {
    let console: Console

    private static let nameField = "name"
    private static let daysField = "days"

    /// The values of the field `decision`.
    private enum Decision: String {
        case add
        case remove
    }

    /// The parts of the page that depend on a form.
    private struct Answer {
        var name = ""
        var days = String(ServerAdministration.standardTokenDays)
        var problems: [FormProblem] = []
        /// The text of a new token; nil for none.
        var text: String?
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply { try await page(exchange, Answer()) }

    func change(_ exchange: Console.Exchange) async throws -> Reply {
        let form = try PageForm(exchange.request, issuer: console.settings.issuer)
        switch Decision(rawValue: try form.value("decision")) {
        case .add: return try await add(form, exchange)
        case .remove: return try await remove(exchange)
        case nil: throw PageProblem.noDecision
        }
    }

    private func add(_ form: PageForm, _ exchange: Console.Exchange) async throws -> Reply {
        let (_, delay) = try await console.check(form, of: exchange)
        var answer = Answer(name: try form.value(Self.nameField), days: try form.value(Self.daysField))
        if let delay {
            answer.problems = [FormProblem(exchange.words(delay))]
            return try await page(exchange, answer)
        }
        let name = answer.name.trimmingWhitespace()
        if !ServerAdministration.isTokenName(name) {
            answer.problems.append(FormProblem(exchange.words(SystemMessage.badTokenName), field: Self.nameField))
        }
        let days = Int(answer.days).flatMap { ServerAdministration.tokenDays.contains($0) ? $0 : nil }
        if days == nil {
            answer.problems.append(FormProblem(exchange.words(SystemMessage.badTokenDays), field: Self.daysField))
        }
        guard answer.problems.isEmpty, let days else { return try await page(exchange, answer) }
        let added = try await console.serverAdministration(by: exchange).addRegistrationToken(
            named: name, days: days, random: console.random)
        return try await page(exchange, Answer(text: added.text.exposed))
    }

    private func remove(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        let id = try form.value("token")
        let token = try await console.store.initialAccessTokens().first { $0.shortID == id }
        guard let token, try await console.serverAdministration(by: exchange).remove(token) else {
            return .done(SystemNotice.gone, at: console.path(.registrationTokens))
        }
        return .done(SystemNotice.tokenRemoved, at: console.path(.registrationTokens))
    }

    private func page(_ exchange: Console.Exchange, _ answer: Answer) async throws -> Reply {
        let words = exchange.words
        func field(_ name: String, _ value: String) -> FormField {
            FormField(name, value, problem: answer.problems.first { $0.field == name }?.text)
        }
        let action = console.path(.registrationTokens)
        let page = RegistrationTokensPage(
            console: console.head(exchange, in: .administration), notice: exchange.notice(SystemNotice.self),
            problems: answer.problems, listPath: console.path(.unregisteredClients), newToken: answer.text,
            rows: try await console.store.initialAccessTokens().map { token in
                let isValid = token.expiresAt > exchange.now
                return RegistrationTokensPage.Row(
                    id: token.shortID, name: DisplayName(token.name), created: words.date(token.createdAt),
                    end: words(
                        LocalizedText(
                            isValid ? SystemMessage.expires : .tokenExpired,
                            ["time": .text(words.moment(token.expiresAt))])),
                    isValid: isValid)
            },
            name: field(Self.nameField, answer.name), days: field(Self.daysField, answer.days), action: action,
            ticket: console.ticket(exchange, for: action))
        return Reply(answer.problems.isEmpty ? .ok : .badRequest, .page(page))
    }
}

/// The tokens for registrations, and the form that adds one.
package struct RegistrationTokensPage: ConsolePage, Hashable {
    package static let template = "registration-tokens"

    package struct Row: Sendable, Hashable {
        package var id: String
        package var name: DisplayName
        package var created: String
        /// The end of the token, in words.
        package var end: String
        package var isValid: Bool
    }

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem]
    package var listPath: String
    /// The text of a new token, which is shown once; nil for none.
    package var newToken: String?
    package var rows: [Row]
    /// The field `name`.
    package var name: FormField
    /// The field `days`: the days until the token expires.
    package var days: FormField
    package var action: String
    /// The anti-CSRF token of the forms.
    package var ticket: String
}
