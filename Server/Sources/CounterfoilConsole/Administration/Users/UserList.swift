@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin/users`: the search for users, in pages of 50.
struct UserList: Sendable {
    let console: Console

    /// The number of users on a page.
    private static let limit = 50

    /// The filter as it was typed.
    private struct Question {
        var search = ""
        var state = ""
        var role = ""
        var signedIn = ""
        var day = ""
        var noSecondFactor = ""
        var noPasskey = ""
        var after = ""
        var notice = ""

        /// The error for a query that no page of this server leads to, such as one with an unknown name.
        struct Unknown: Error {}

        init(_ text: String) throws {
            let fields = Self.conditions + [("after", \.after), (Reply.noticeParameter, \.notice)]
            for pair in try FormParameters(parsing: text).pairs {
                guard let field = fields.first(where: { $0.name == pair.name })?.value, self[keyPath: field].isEmpty
                else { throw Unknown() }
                self[keyPath: field] = pair.value.trimmingWhitespace()
            }
        }

        init() {}

        private static var conditions: [(name: String, value: WritableKeyPath<Question, String>)] {
            [("search", \.search)] + filters
        }

        private static var filters: [(name: String, value: WritableKeyPath<Question, String>)] {
            [
                ("state", \.state), ("role", \.role), ("signed_in", \.signedIn), ("day", \.day),
                ("no_second_factor", \.noSecondFactor), ("no_passkey", \.noPasskey),
            ]
        }

        var isFiltered: Bool { Self.filters.contains { !self[keyPath: $0.value].isEmpty } }

        /// Returns the query string of the page after a username, with the same filter.
        func after(_ username: Username) -> String {
            var query = FormParameters()
            for (name, value) in Self.conditions where !self[keyPath: value].isEmpty {
                query.append(name, self[keyPath: value])
            }
            query.append("after", username.rawValue)
            return query.encoded
        }
    }

    /// A part of the filter that is not understood; the field is nil for the URL as a whole.
    private struct Mistake {
        var field: String?
        let message: UserMessage
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        var mistakes: [Mistake] = []
        var question = Question()
        do { question = try Question(exchange.request.query) } catch { mistakes.append(Mistake(message: .noFilter)) }
        let query = Self.query(question, &mistakes)
        // A filter that is not understood must not widen the answer.
        let found =
            mistakes.isEmpty ? try await console.store.users(matching: query) : UserPage(users: [], next: nil)
        let count =
            mistakes.isEmpty && query.after == nil ? try await console.store.userCount(matching: query) : nil
        let words = exchange.words
        func problem(_ field: String) -> String? {
            mistakes.first { $0.field == field }.map { words($0.message) }
        }
        func choices(_ name: String, _ chosen: String, _ all: [(String, UserMessage)]) -> FormChoices {
            FormChoices(
                name,
                all.map { FormChoices.Choice($0.0, label: words($0.1), isChosen: $0.0 == chosen) },
                problem: problem(name))
        }
        let action = console.path(.users)
        let page = UsersPage(
            console: console.head(exchange, in: .administration),
            notice: exchange.notice(UserNotice.self),
            problems: mistakes.map { FormProblem(words($0.message), field: $0.field) },
            paths: AdministrationPaths(console, exchange, at: .users),
            search: FormField("search", question.search, problem: problem("search")),
            state: choices(
                "state", question.state,
                [("", .everyState), ("enabled", .enabled), ("disabled", .disabled)]),
            role: FormChoices(
                "role", roles(question.role, words), problem: problem("role")),
            signedIn: choices(
                "signed_in", question.signedIn,
                [("", .anyTime), ("never", .never), ("before", .before), ("since", .since)]),
            day: FormField("day", question.day, problem: problem("day")),
            noSecondFactor: FormCheck(
                "no_second_factor", isOn: query.lacksSecondFactor, problem: problem("no_second_factor")),
            noPasskey: FormCheck("no_passkey", isOn: query.lacksPasskey, problem: problem("no_passkey")),
            action: action,
            newPath: console.path(.newUser),
            invitationsPath: console.path(.invitations),
            isFiltered: question.isFiltered,
            count: count.flatMap {
                $0.number == 0 || (!$0.isExact && $0.number < UserCount.limit) ? nil : words($0.users)
            },
            remark: found.isTooBroad
                ? words(LocalizedText(UserMessage.tooBroad, ["count": .number(UserQuery.candidates)])) : nil,
            rows: found.users.map { row($0, exchange) },
            next: found.next.map { action + "?" + question.after($0) })
        return Reply(mistakes.isEmpty ? .ok : .badRequest, .page(page))
    }

    private func roles(_ chosen: String, _ words: Localizer) -> [FormChoices.Choice] {
        [FormChoices.Choice("", label: words(UserMessage.everyRole), isChosen: chosen.isEmpty)]
            + UserQuery.Role.allCases.map { role in
                let label = if case .role(let role) = role { role.label } else { UserRole.noRole }
                return FormChoices.Choice(role.rawValue, label: words(label), isChosen: role.rawValue == chosen)
            }
    }

    /// Reads the filter, and appends a mistake for each part that is not understood.
    private static func query(_ question: Question, _ mistakes: inout [Mistake]) -> UserQuery {
        func read<Value>(
            _ text: String, _ field: String?, _ message: UserMessage, as value: (String) -> Value?
        ) -> Value? {
            guard !text.isEmpty else { return nil }
            let value = value(text)
            if value == nil { mistakes.append(Mistake(field: field, message: message)) }
            return value
        }
        func isTicked(_ text: String, _ field: String) -> Bool {
            read(text, field, .noChoice) { $0 == "on" ? true : nil } ?? false
        }
        let day = read(question.day, "day", .noDay) { Moment.parse($0, in: .gmt) }
        var lastSignIn: UserQuery.LastSignIn?
        switch question.signedIn {
        case "" where question.day.isEmpty: break
        case "never" where question.day.isEmpty: lastSignIn = .never
        case "before", "since":
            if question.day.isEmpty { mistakes.append(Mistake(field: "day", message: .noDay)) }
            lastSignIn = day.map { question.signedIn == "before" ? .before($0) : .since($0) }
        default: mistakes.append(Mistake(field: "signed_in", message: .noChoice))
        }
        return UserQuery(
            search: read(question.search, "search", .badSearch) { UserSearch($0) },
            state: read(question.state, "state", .noChoice) { UserQuery.State(rawValue: $0) },
            role: read(question.role, "role", .noChoice) { UserQuery.Role(rawValue: $0) },
            lastSignIn: lastSignIn,
            lacksSecondFactor: isTicked(question.noSecondFactor, "no_second_factor"),
            lacksPasskey: isTicked(question.noPasskey, "no_passkey"),
            after: read(question.after, nil, .noFilter) { Username($0) }, limit: limit)
    }

    private func row(_ overview: UserOverview, _ exchange: Console.Exchange) -> UsersPage.Row {
        let (user, words) = (overview.user, exchange.words)
        var ways: [String] = []
        if user.passwordHash != nil { ways.append(words(UserMessage.password)) }
        if overview.hasSecondFactor { ways.append(words(UserMessage.secondFactor)) }
        if overview.passkeys > 0 {
            ways.append(words(LocalizedText(UserMessage.passkeys, ["count": .number(overview.passkeys)])))
        }
        return UsersPage.Row(
            path: console.path(.user, of: user.id),
            name: DisplayName(of: user),
            username: user.username.rawValue,
            email: user.email?.rawValue,
            isEmailVerified: user.profile.isEmailVerified == true,
            role: user.role.map { words($0.label) },
            isDisabled: user.disabledAt != nil,
            lastSignIn: overview.lastSignInAt.map { words.ago($0, now: exchange.now) },
            ways: ways.isEmpty ? nil : ways.joined(separator: ", "))
    }
}
