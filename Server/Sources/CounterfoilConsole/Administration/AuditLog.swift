@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin/audit`: the audit log with a filter, in pages of 50 events.
struct AuditLog: Sendable {
    let console: Console

    /// The number of events on a page.
    private static let limit = 50

    /// The filter as it was typed.
    private struct Question {
        var kind = ""
        var outcome = ""
        var user = ""
        var client = ""
        var source = ""
        var request = ""
        var since = ""
        var until = ""
        var before = ""

        /// The error for a query that no page of this server leads to, such as one with an unknown name.
        struct Unknown: Error {}

        init(_ text: String) throws {
            let fields = Self.conditions + [("before", \.before)]
            for pair in try FormParameters(parsing: text).pairs {
                guard let field = fields.first(where: { $0.name == pair.name })?.value, self[keyPath: field].isEmpty
                else { throw Unknown() }
                self[keyPath: field] = pair.value.trimmingWhitespace()
            }
        }

        init() {}

        private static var conditions: [(name: String, value: WritableKeyPath<Question, String>)] {
            [
                ("kind", \.kind), ("outcome", \.outcome), ("person", \.user), ("client", \.client),
                ("source", \.source), ("request", \.request), ("since", \.since), ("until", \.until),
            ]
        }

        var isFilter: Bool { Self.conditions.contains { !self[keyPath: $0.value].isEmpty } }

        /// Returns the query string of the page with older events: the same filter, with a position in the parameter
        /// `before`.
        func before(_ position: AuditPosition) -> String {
            var query = FormParameters()
            for (name, value) in Self.conditions where !self[keyPath: value].isEmpty {
                query.append(name, self[keyPath: value])
            }
            query.append("before", "\(position)")
            return query.encoded
        }
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        var problems: [Mistake] = []
        var question = Question()
        do { question = try Question(exchange.request.query) } catch { problems.append(Mistake(.noFilter)) }
        let query = try await query(question, &problems)
        // A filter that is not understood must not widen the answer.
        let entries = problems.isEmpty ? try await console.store.audit(query) : []
        func said(_ field: String) -> String? {
            problems.first { $0.field == field }.map { exchange.words($0.message) }
        }
        var page = AuditPage(
            console: console.head(exchange, in: .administration),
            paths: AdministrationPaths(console, at: .audit),
            problems: problems.map { FormProblem(exchange.words($0.message), field: $0.field) },
            kind: Self.choices(question.kind, exchange.words, problem: said("kind")),
            outcome: Self.outcomes(question.outcome, exchange.words, problem: said("outcome")),
            user: FormField("person", question.user, problem: said("person")),
            client: FormField("client", question.client, problem: said("client")),
            source: FormField("source", question.source, problem: said("source")),
            request: FormField("request", question.request, problem: said("request")),
            since: FormField("since", Self.field(query.since, question.since), problem: said("since")),
            until: FormField("until", Self.field(query.until, question.until), problem: said("until")),
            action: console.path(.audit),
            isFiltered: question.isFilter || !problems.isEmpty,
            rows: try await rows(entries, exchange)
        )
        if entries.count == query.limit, let last = entries.last {
            page.older = page.action + "?" + question.before(last.position)
        }
        return Reply(problems.isEmpty ? .ok : .badRequest, .page(page))
    }

    /// A part of the filter that is not understood; the field is nil for the URL as a whole.
    private struct Mistake {
        var field: String?
        let message: AuditMessage

        init(_ message: AuditMessage, in field: String? = nil) {
            self.field = field
            self.message = message
        }
    }

    /// Reads the filter, and appends a problem for each part that is not understood.
    private func query(_ question: Question, _ problems: inout [Mistake]) async throws -> AuditQuery {
        func read<Value>(
            _ text: String, _ field: String?, _ message: AuditMessage, as value: (String) -> Value?
        ) -> Value? {
            guard !text.isEmpty else { return nil }
            let value = value(text)
            if value == nil { problems.append(Mistake(message, in: field)) }
            return value
        }
        return AuditQuery(
            kind: read(question.kind, "kind", .noChoice, as: AuditEvent.Kind.init(known:)),
            userID: try await user(question.user, &problems),
            clientID: read(question.client, "client", .noClient) { ClientIdentifier($0) },
            outcome: read(question.outcome, "outcome", .noChoice) { name in
                AuditEvent.Outcome.allCases.first { $0.rawValue == name }
            },
            source: read(question.source, "source", .noSource) { CountedSource(typed: $0)?.name },
            requestID: read(question.request, "request", .noRequest) { IncomingRequest.isIdentifier($0) ? $0 : nil },
            since: read(question.since, "since", .noTime) { Moment.parse($0, in: .gmt) },
            until: read(question.until, "until", .noTime) { Moment.parse($0, in: .gmt) },
            before: read(question.before, nil, .noFilter) { AuditPosition($0) }, limit: Self.limit)
    }

    private func user(_ typed: String, _ problems: inout [Mistake]) async throws -> UserIdentifier? {
        guard !typed.isEmpty else { return nil }
        if let pseudonym = UserIdentifier(typed), pseudonym.isPseudonym { return pseudonym }
        if let name = Username(typed), let user = try await console.store.user(named: name) { return user.id }
        problems.append(Mistake(.noUser, in: "person"))
        return nil
    }

    /// Returns the value of a field for a time, in the form of `datetime-local`; what was typed if it is no time.
    private static func field(_ time: Date?, _ typed: String) -> String {
        time.map { String(Moment.text($0).dropLast()) } ?? typed
    }

    private static func outcomes(_ chosen: String, _ words: Localizer, problem: String?) -> FormChoices {
        let every = FormChoices.Choice("", label: words(AuditMessage.everyOutcome), isChosen: chosen.isEmpty)
        let outcomes = AuditEvent.Outcome.allCases.map { outcome in
            FormChoices.Choice(
                outcome.rawValue, label: outcome.label.map { words($0) } ?? outcome.rawValue,
                isChosen: outcome.rawValue == chosen)
        }
        return FormChoices("outcome", [every] + outcomes, problem: problem)
    }

    private static func choices(_ chosen: String, _ words: Localizer, problem: String?) -> FormChoices {
        let every = FormChoices.Choice("", label: words(AuditMessage.everyKind), isChosen: chosen.isEmpty)
        let kinds = AuditEvent.Kind.allCases.map { kind in
            FormChoices.Choice(
                kind.rawValue, label: kind.label.map { words($0) } ?? kind.rawValue, isChosen: kind.rawValue == chosen)
        }
        return FormChoices("kind", [every] + kinds, problem: problem)
    }

    private func rows(_ entries: [AuditEntry], _ exchange: Console.Exchange) async throws -> [AuditPage.Row] {
        var users: [UserIdentifier: DisplayName] = [:]
        for id in Set(entries.compactMap(\.event.userID)) {
            let user = try await StoreFault.supported { () async throws(StoreFault) in
                try await console.store.user(id)
            }
            users[id] = user.map { DisplayName($0.username.rawValue) }
        }
        var clients: [ClientIdentifier: DisplayName] = [:]
        let registry = try await console.registry.atArrival()
        for id in Set(entries.compactMap(\.event.clientID)) {
            let client = try await StoreFault.supported { () async throws(StoreFault) in
                try await registry.client(id)
            }
            clients[id] = client?.displayName
        }
        let words = exchange.words
        return entries.map { entry in
            let event = entry.event
            return AuditPage.Row(
                time: words.moment(event.at),
                what: event.kind.label.map { words($0) } ?? event.kind.rawValue,
                outcome: event.outcome.label.map { words($0) } ?? event.outcome.rawValue,
                isRefused: event.outcome == .refused,
                user: event.userID.map { users[$0] ?? DisplayName($0.rawValue) },
                client: event.clientID.flatMap { clients[$0] },
                clientID: event.clientID?.rawValue,
                source: event.source
                    ?? (event.isFromCommand
                        ? words(AuditMessage.terminal) : event.isFromServer ? words(AuditMessage.server) : ""),
                reason: event.reason?.rawValue,
                detail: event.explanation,
                request: event.outcome == .refused ? event.requestID : nil
            )
        }
    }
}

/// The labels and errors of the audit log page.
private enum AuditMessage: String, LocalizationKey {
    case everyKind = "audit.every-kind"
    case everyOutcome = "audit.every-outcome"
    case done = "audit.done"
    case refused = "audit.refused"
    case terminal = "audit.terminal"
    case server = "audit.server"
    case noUser = "audit.no-person"
    case noClient = "audit.no-client"
    case noTime = "audit.no-time"
    case noChoice = "audit.no-choice"
    case noSource = "audit.no-source"
    case noRequest = "audit.no-request"
    case noFilter = "audit.no-filter"
}

extension AuditEvent.Kind {
    /// The name of the kind on pages; nil for a kind that this version does not know.
    var label: LocalizedText? {
        Self.allCases.contains(self) ? LocalizedText(key: "audit.kind.\(rawValue)") : nil
    }
}

extension AuditEvent.Outcome {
    /// The name of the outcome on pages; nil for an outcome that this version does not know.
    fileprivate var label: AuditMessage? {
        switch self {
        case .done: .done
        case .refused: .refused
        default: nil
        }
    }
}
