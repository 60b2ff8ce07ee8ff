import CounterfoilProtocol
import CounterfoilServer
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
        var person = ""
        var client = ""
        var source = ""
        var request = ""
        var since = ""
        var until = ""
        var before = ""

        init(_ query: FormParameters) throws(FormParameters.Refusal) {
            func typed(_ name: String) throws(FormParameters.Refusal) -> String {
                (try query.single(name) ?? "").trimmingWhitespace()
            }
            kind = try query.single("kind") ?? ""
            outcome = try query.single("outcome") ?? ""
            person = try typed("person")
            client = try typed("client")
            source = try typed("source")
            request = try typed("request")
            since = try typed("since")
            until = try typed("until")
            before = try query.single("before") ?? ""
        }

        init() {}

        var isFilter: Bool { !conditions.isEmpty }

        /// Whether no event can match, because an address or a reference has a character that none of them has.
        var isImpossible: Bool { (source + request).utf8.contains { !(0x21...0x7E).contains($0) } }

        private var conditions: [(name: String, value: String)] {
            [
                ("kind", kind), ("outcome", outcome), ("person", person), ("client", client), ("source", source),
                ("request", request), ("since", since), ("until", until),
            ].filter { !$0.1.isEmpty }
        }

        /// Returns the query string of the page with older events: the same filter, with a position in the parameter
        /// `before`.
        func before(_ position: AuditPosition) -> String {
            var query = FormParameters()
            for (name, value) in conditions { query.append(name, value) }
            query.append("before", "\(position)")
            return query.encoded
        }
    }

    func show(_ visit: Console.Visit) async throws -> Reply {
        let question = (try? FormParameters(parsing: visit.request.query)).flatMap { try? Question($0) } ?? Question()
        var problems: [(field: String, message: AuditMessage)] = []
        let query = try await query(question, &problems)
        let entries = problems.isEmpty && !question.isImpossible ? try await console.store.audit(query) : []
        var page = AuditPage(
            console: console.head(visit, in: .administration),
            paths: AdministrationPaths(console, at: .audit),
            problems: problems.map { FormProblem(visit.words($0.message), field: $0.field) },
            kind: Self.choices(question.kind, visit.words),
            outcome: Self.outcomes(question.outcome, visit.words),
            person: FormField("person", question.person),
            client: FormField("client", question.client),
            source: FormField("source", question.source),
            request: FormField("request", question.request),
            since: FormField("since", Self.field(query.since, question.since)),
            until: FormField("until", Self.field(query.until, question.until)),
            action: console.path(.audit),
            isFiltered: question.isFilter,
            rows: try await rows(entries, visit)
        )
        if entries.count == query.limit, let last = entries.last {
            page.older = page.action + "?" + question.before(last.position)
        }
        for problem in problems {
            let said = visit.words(problem.message)
            if problem.field == "person" { page.person.problem = said }
            if problem.field == "client" { page.client.problem = said }
            if problem.field == "since" { page.since.problem = said }
            if problem.field == "until" { page.until.problem = said }
        }
        return Reply(problems.isEmpty ? .ok : .badRequest, .page(page))
    }

    private func query(
        _ question: Question, _ problems: inout [(field: String, message: AuditMessage)]
    ) async throws -> AuditQuery {
        var query = AuditQuery(
            kind: AuditEvent.Kind(known: question.kind),
            outcome: AuditEvent.Outcome.allCases.first { $0.rawValue == question.outcome },
            source: question.source.isEmpty ? nil : CountedSource(typed: question.source)?.name ?? question.source,
            requestID: question.request.isEmpty ? nil : question.request,
            before: AuditPosition(question.before), limit: Self.limit)
        if let pseudonym = PersonIdentifier(question.person), pseudonym.isPseudonym {
            query.personID = pseudonym
        } else if !question.person.isEmpty {
            var person: Person?
            if let name = Username(question.person) { person = try await console.store.person(named: name) }
            if let person { query.personID = person.id } else { problems.append(("person", .noPerson)) }
        }
        if !question.client.isEmpty {
            query.clientID = ClientIdentifier(question.client)
            if query.clientID == nil { problems.append(("client", .noClient)) }
        }
        if !question.since.isEmpty {
            query.since = Moment.parse(question.since, in: .gmt)
            if query.since == nil { problems.append(("since", .noTime)) }
        }
        if !question.until.isEmpty {
            query.until = Moment.parse(question.until, in: .gmt)
            if query.until == nil { problems.append(("until", .noTime)) }
        }
        return query
    }

    /// Returns the value of a field for a time, in the form of `datetime-local`; what was typed if it is no time.
    private static func field(_ time: Date?, _ typed: String) -> String {
        time.map { String(Moment.text($0).dropLast()) } ?? typed
    }

    private static func outcomes(_ chosen: String, _ words: Localizer) -> FormChoices {
        let every = FormChoices.Choice("", label: words(AuditMessage.everyOutcome), isChosen: chosen.isEmpty)
        let outcomes = AuditEvent.Outcome.allCases.map { outcome in
            FormChoices.Choice(
                outcome.rawValue, label: outcome.label.map { words($0) } ?? outcome.rawValue,
                isChosen: outcome.rawValue == chosen)
        }
        return FormChoices("outcome", [every] + outcomes)
    }

    private static func choices(_ chosen: String, _ words: Localizer) -> FormChoices {
        let every = FormChoices.Choice("", label: words(AuditMessage.everyKind), isChosen: chosen.isEmpty)
        let kinds = AuditEvent.Kind.allCases.map { kind in
            FormChoices.Choice(
                kind.rawValue, label: kind.label.map { words($0) } ?? kind.rawValue, isChosen: kind.rawValue == chosen)
        }
        return FormChoices("kind", [every] + kinds)
    }

    private func rows(_ entries: [AuditEntry], _ visit: Console.Visit) async throws -> [AuditPage.Row] {
        var people: [PersonIdentifier: DisplayName] = [:]
        for id in Set(entries.compactMap(\.event.personID)) {
            let person = try await StoreFault.supported { () async throws(StoreFault) in
                try await console.store.person(id)
            }
            people[id] = person.map { DisplayName($0.username.rawValue) }
        }
        var applications: [ClientIdentifier: DisplayName] = [:]
        for id in Set(entries.compactMap(\.event.clientID)) {
            let client = try await StoreFault.supported { () async throws(StoreFault) in
                try await console.registry.client(id)
            }
            applications[id] = client?.displayName
        }
        let words = visit.words
        return entries.map { entry in
            let event = entry.event
            return AuditPage.Row(
                time: words.moment(event.at),
                what: event.kind.label.map { words($0) } ?? event.kind.rawValue,
                outcome: event.outcome.label.map { words($0) } ?? event.outcome.rawValue,
                isRefused: event.outcome == .refused,
                person: event.personID.map { people[$0] ?? DisplayName($0.rawValue) },
                application: event.clientID.flatMap { applications[$0] },
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
    case noPerson = "audit.no-person"
    case noClient = "audit.no-client"
    case noTime = "audit.no-time"
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
