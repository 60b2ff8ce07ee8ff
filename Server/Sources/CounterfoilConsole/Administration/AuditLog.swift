@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin/audit`: the audit log with a filter, in pages of 50 events, and the export of what is filtered.
struct AuditLog: Sendable {
    let console: Console

    /// The number of events on a page.
    private static let limit = 50
    /// The maximum number of events that an export contains.
    static let exportLimit = 5000
    /// The maximum number of searches of an export.
    private static let searchLimit = 50

    /// The query of the page as it was typed.
    private struct Question {
        /// The texts of the filter; a field without text is missing.
        private(set) var texts: [AuditFilter.Field: String] = [:]
        /// The name of the time zone, such as `Europe/Oslo`; empty for UTC.
        private(set) var zone = ""
        /// The position before which the events are; empty for the newest ones.
        private(set) var before = ""

        /// The error for a query that no page of this server leads to, such as one with an unknown name.
        struct Unknown: Error {}

        init() {}

        init(_ text: String) throws {
            for pair in try FormParameters(parsing: text).pairs {
                let value = pair.value.trimmingWhitespace()
                if let field = AuditFilter.Field(rawValue: pair.name) {
                    guard texts[field] == nil else { throw Unknown() }
                    texts[field] = value.isEmpty ? nil : value
                } else if pair.name == "zone", zone.isEmpty {
                    zone = value
                } else if pair.name == "before", before.isEmpty {
                    before = value
                } else {
                    throw Unknown()
                }
            }
        }

        subscript(field: AuditFilter.Field) -> String { texts[field] ?? "" }

        /// The query string of the filter, which the export posts.
        var filter: String { parameters.encoded }

        /// Returns the query string of the page with older events: the same filter, with a position.
        func before(_ position: AuditPosition) -> String {
            var query = parameters
            query.append("before", "\(position)")
            return query.encoded
        }

        private var parameters: FormParameters {
            var query = FormParameters()
            for field in AuditFilter.Field.allCases {
                if let text = texts[field] { query.append(field.rawValue, text) }
            }
            if !zone.isEmpty { query.append("zone", zone) }
            return query
        }

        /// The time zone; nil for a name that is not known.
        var timeZone: TimeZone? {
            zone.isEmpty ? .gmt : TimeZone(typed: zone)
        }
    }

    /// A part of the query that is not understood; the field is nil for the query as a whole.
    private struct Mistake {
        var field: String?
        let message: AuditMessage

        init(_ message: AuditMessage, in field: String? = nil) {
            self.field = field
            self.message = message
        }

        init(_ problem: AuditFilter.Problem) {
            field = problem.field.rawValue
            message =
                switch problem {
                case .unknownUser: .noUser
                case .emptyPeriod: .noPeriod
                case .invalid(let field):
                    switch field {
                    case .kind, .outcome: .noChoice
                    case .person: .noUser
                    case .client: .noClient
                    case .source: .noSource
                    case .request: .noRequest
                    case .since, .until: .noTime
                    }
                }
        }
    }

    /// A query that was read.
    private struct Reading {
        var question = Question()
        var query = AuditQuery()
        var zone = TimeZone.gmt
        var mistakes: [Mistake] = []
    }

    private func read(_ text: String, _ exchange: Console.Exchange) async throws -> Reading {
        var reading = Reading()
        do { reading.question = try Question(text) } catch { reading.mistakes.append(Mistake(.noFilter)) }
        if let zone = reading.question.timeZone {
            reading.zone = zone
        } else {
            reading.mistakes.append(Mistake(.noZone, in: "zone"))
        }
        var filter = AuditFilter(reading.question.texts, at: exchange.now, in: reading.zone, limit: Self.limit)
        try await filter.findUser(in: console.store)
        reading.query = filter.query
        reading.mistakes += filter.problems.map(Mistake.init)
        if !reading.question.before.isEmpty {
            reading.query.before = AuditPosition(reading.question.before)
            if reading.query.before == nil { reading.mistakes.append(Mistake(.noFilter)) }
        }
        return reading
    }

    func show(_ exchange: Console.Exchange) async throws -> Reply {
        try await page(try await read(exchange.request.query, exchange), exchange)
    }

    private func page(_ reading: Reading, _ exchange: Console.Exchange) async throws -> Reply {
        let (question, query, words) = (reading.question, reading.query, exchange.words)
        // A filter that is not understood must not widen the answer.
        let search =
            reading.mistakes.isEmpty
            ? try await console.store.searchAudit(query) : AuditSearch(entries: [], rest: nil)
        func field(_ field: AuditFilter.Field, _ value: String? = nil) -> FormField {
            FormField(field.rawValue, value ?? question[field], problem: said(field.rawValue))
        }
        func said(_ field: String) -> String? {
            reading.mistakes.first { $0.field == field }.map { words($0.message) }
        }
        func local(_ time: Date?) -> String? { time.map { String(Moment.text($0, in: reading.zone).prefix(19)) } }
        let zone = question.zone.isEmpty ? "UTC" : question.zone
        var page = AuditPage(
            console: console.head(exchange, in: .administration),
            paths: AdministrationPaths(console, exchange, at: .audit),
            problems: reading.mistakes.map { FormProblem(words($0.message), field: $0.field) },
            kind: Self.choices(question[.kind], words, problem: said("kind")),
            outcome: Self.outcomes(question[.outcome], words, problem: said("outcome")),
            user: field(.person),
            client: field(.client),
            source: field(.source),
            request: field(.request),
            since: field(.since, local(query.since)),
            until: field(.until, local(query.until)),
            zone: FormField("zone", zone, problem: said("zone")),
            asksForZone: exchange.request.head.method == .get && question.zone.isEmpty,
            action: console.path(.audit),
            isFiltered: !question.texts.isEmpty || !reading.mistakes.isEmpty,
            times: words(LocalizedText("audit.times", ["zone": .text(zone)])),
            rows: try await rows(search.entries, in: reading.zone, exchange)
        )
        if let rest = search.rest {
            page.older = page.action + "?" + question.before(rest)
            if page.rows.isEmpty {
                page.searched = words(
                    LocalizedText("audit.searched", ["time": .text(words.moment(rest.time, in: reading.zone))]))
            }
        }
        if reading.mistakes.allSatisfy({ $0.message == .tooMany }) {
            page.export = AuditPage.Export(
                ticket: console.ticket(exchange, for: page.action), filter: question.filter,
                about: words(LocalizedText("audit.export.about", ["limit": .number(Self.exportLimit)])))
        }
        return Reply(reading.mistakes.isEmpty ? .ok : .badRequest, .page(page))
    }

    /// A format of the export; the raw value is that of the form field `format`.
    private enum Format: String {
        case csv
        case ndjson

        var type: String {
            switch self {
            case .csv: "text/csv; charset=utf-8"
            case .ndjson: "application/x-ndjson"
            }
        }
    }

    /// Answers the form of the export with a file, oldest events first.
    ///
    /// The event of the export is stored before the answer, so that no one gets the file without it. If the file would
    /// be incomplete, the page says so instead.
    func export(_ exchange: Console.Exchange) async throws -> Reply {
        let (form, _) = try console.form(exchange)
        var reading = try await read(try form.value("filter"), exchange)
        let format = Format(rawValue: try form.value("format"))
        if format == nil { reading.mistakes.append(Mistake(.noFilter)) }
        guard let format, reading.mistakes.isEmpty else { return try await page(reading, exchange) }
        var query = reading.query
        // An event whose position is not settled can get another one before it, which no later export would have.
        let settled = AuditPosition.lastSettled(at: exchange.now)
        query.before = query.before.map { min($0, settled) } ?? settled
        query.order = .oldestFirst
        query.limit = 1000
        var (file, count, searches) = ([UInt8](), 0, 0)
        var names: [UserIdentifier: String?] = [:]
        if format == .csv { file += Array(AuditDocument.header.utf8) }
        while true {
            let search = try await console.store.searchAudit(query)
            (count, searches) = (count + search.entries.count, searches + 1)
            guard count <= Self.exportLimit, searches < Self.searchLimit || search.rest == nil else {
                reading.mistakes = [Mistake(.tooMany)]
                return try await page(reading, exchange)
            }
            let documents = try await AuditDocument.documents(
                of: search.entries, in: console.store, names: &names)
            for document in documents {
                file += try format == .csv ? Array(document.row.utf8) : Array(document.line())
            }
            guard let rest = search.rest else { break }
            query.proceed(from: rest)
        }
        // A name in the filter would stay in the log after the deletion of its user.
        let fields = AuditFilter.Field.allCases.filter { reading.question.texts[$0] != nil }.map(\.rawValue)
        let filtered = fields.isEmpty ? "" : ", filtered by \(fields.joined(separator: ", "))"
        let event = console.event(
            .auditExport, by: exchange, detail: "\(format.rawValue), \(count) event\(count == 1 ? "" : "s")\(filtered)")
        try await console.store.appendAudit(event)
        console.auditor.countRecorded(event)
        let time = Moment.text(exchange.now).filter { $0 != "-" && $0 != ":" }
        return Reply(
            .ok, .file(file, type: format.type),
            fields: [.contentDisposition: "attachment; filename=\"audit-\(time).\(format.rawValue)\""])
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

    private func rows(
        _ entries: [AuditEntry], in zone: TimeZone, _ exchange: Console.Exchange
    ) async throws -> [AuditPage.Row] {
        let users = try await console.store.usernames(of: Set(entries.compactMap(\.event.userID)))
            .mapValues { DisplayName($0) }
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
                number: entry.number,
                time: words.moment(event.at, in: zone),
                universalTime: Moment.text(event.at),
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

extension TimeZone {
    /// Parses the name of a time zone, such as `Europe/Oslo`; nil for a name that is not known.
    init?(typed name: String) {
        guard name.utf8.count <= 64,
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "/_+-".contains($0)) })
        else { return nil }
        self.init(identifier: name)
    }
}

extension Console {
    /// Returns the URL of the audit log with the sign-ins to a client.
    func signIns(to client: ClientIdentifier) -> String {
        let query = FormParameters([
            AuditFilter.Field.kind.rawValue: AuditEvent.Kind.signIn.rawValue,
            AuditFilter.Field.client.rawValue: client.rawValue,
        ])
        return path(.audit) + "?" + query.encoded
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
    case noPeriod = "audit.no-period"
    case noZone = "audit.no-zone"
    case tooMany = "audit.export.too-many"

    var values: [String: LocalizedText.Value] {
        self == .tooMany ? ["limit": .number(AuditLog.exportLimit)] : [:]
    }
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
