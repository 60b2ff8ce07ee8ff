@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin/users/new`: the form that adds a user, who has no password at first.
struct NewUserForm: Sendable {
    let console: Console

    /// The values as they were typed.
    private struct Draft {
        var username = ""
        var displayName = ""
        var email = ""
        var isEmailVerified = false
        var role = ""
    }

    func show(_ exchange: Console.Exchange) -> Reply { page(Draft(), exchange) }

    func add(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _, delay) = try await console.formOrDelay(exchange)
        let draft = Draft(
            username: try form.value("username"), displayName: try form.value("display_name"),
            email: try form.value("email"), isEmailVerified: try form.value("email_verified") == "on",
            role: try form.value("role"))
        if let delay { return page(draft, exchange, [FormProblem(exchange.words(delay))]) }
        var problems: [FormProblem] = []
        func refuse(_ field: String, _ message: UserMessage) {
            problems.append(FormProblem(exchange.words(message), field: field))
        }
        if Username(draft.username) == nil { refuse("username", .badUsername) }
        let displayName = draft.displayName.trimmingWhitespace()
        if !displayName.isEmpty, !displayName.isDisplayName { refuse("display_name", .badDisplayName) }
        let email = EmailAddress(draft.email)
        if email == nil, !draft.email.trimmingWhitespace().isEmpty { refuse("email", .badEmail) }
        let role = draft.role.isEmpty ? .noRole : UserQuery.Role(rawValue: draft.role)
        if role == nil { refuse("role", .noChoice) }
        guard problems.isEmpty,
            let user = User(
                creating: draft.username, email: email, isEmailVerified: draft.isEmailVerified,
                displayName: displayName.isEmpty ? nil : displayName, passwordHash: nil,
                role: role?.role, at: exchange.now)
        else { return page(draft, exchange, problems) }
        switch try await console.administration(exchange.user, exchange.request, exchange.now).add(user) {
        case .added: return .done(UserNotice.created, at: console.path(.user, of: user.id))
        case .usernameTaken: refuse("username", .usernameTaken)
        case .emailTaken: refuse("email", .emailTaken)
        case .ownerExists: throw NotFoundError()
        }
        return page(draft, exchange, problems)
    }

    private func page(_ draft: Draft, _ exchange: Console.Exchange, _ problems: [FormProblem] = []) -> Reply {
        func field(_ name: String, _ value: String) -> FormField {
            FormField(name, value, problem: problems.first { $0.field == name }?.text)
        }
        let action = console.path(.newUser)
        let page = NewUserPage(
            console: console.head(exchange, in: .administration),
            problems: problems,
            listPath: console.path(.users),
            username: field("username", draft.username),
            displayName: field("display_name", draft.displayName),
            email: field("email", draft.email),
            emailVerified: FormCheck("email_verified", isOn: draft.isEmailVerified),
            role: exchange.roles(
                chosen: UserQuery.Role(rawValue: draft.role)?.role, problem: problems.first { $0.field == "role" }?.text
            ),
            action: action,
            ticket: console.ticket(exchange, for: action))
        return Reply(problems.isEmpty ? .ok : .badRequest, .page(page))
    }
}

extension Console.Exchange {
    /// Returns the field `role` with the roles that the user may give; nil if there is none.
    func roles(chosen: UserRole?, problem: String? = nil) -> FormChoices? {
        let roles = UserRole.allCases.filter { user.role?.mayAssign($0) == true }
        guard !roles.isEmpty else { return nil }
        let none = FormChoices.Choice(
            UserQuery.Role.noRole.rawValue, label: words(UserRole.noRole), isChosen: chosen == nil)
        let choices = roles.map { FormChoices.Choice($0.rawValue, label: words($0.label), isChosen: $0 == chosen) }
        return FormChoices("role", [none] + choices, problem: problem)
    }
}
