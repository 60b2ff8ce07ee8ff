@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPTypes

/// `/admin`: the first page of the administration.
struct Overview: Sendable {
    let console: Console

    /// The parameters of the query.
    private enum Parameter: String {
        case range
        case zone
    }

    /// The query of the page; a value that is not understood counts as missing.
    private struct Question {
        let range: ActivityRange
        /// The name of the time zone as typed; empty for UTC.
        let typedZone: String
        /// The time zone; nil for a name that is not known.
        let zone: TimeZone?

        init(_ exchange: Console.Exchange) {
            range = exchange.parameter(Parameter.range.rawValue).flatMap(ActivityRange.init(rawValue:)) ?? .day
            typedZone = exchange.parameter(Parameter.zone.rawValue)?.trimmingWhitespace() ?? ""
            zone = typedZone.isEmpty ? .gmt : TimeZone(typed: typedZone)
        }

        /// Returns the query string of the page with another range.
        func with(_ range: ActivityRange) -> String {
            var query = FormParameters([Parameter.range.rawValue: range.rawValue])
            if !typedZone.isEmpty { query.append(Parameter.zone.rawValue, typedZone) }
            return query.encoded
        }
    }

    @Sendable
    func show(_ exchange: Console.Exchange) async throws -> Reply {
        let question = Question(exchange)
        let users = try await console.store.userCount(matching: UserQuery())
        let clients = try await console.store.clientCounts()
        let isNew = clients.all == 0 || users.number <= 1
        let installation = exchange.user.may(.readServer) ? await console.installation(exchange) : nil
        let attention = Attention(
            console: console, exchange: exchange, installation: installation, zone: question.zone ?? .gmt)
        let steps = NextSteps(console: console, exchange: exchange, installation: installation)
        let page = OverviewPage(
            console: console.head(exchange, in: .administration),
            paths: AdministrationPaths(console, exchange, at: .overview),
            attention: try await attention.all(clients: clients, isNew: isNew),
            steps: isNew ? try await steps.all(users: users.number, clients: clients.all) : [],
            cards: try await cards(users, clients, exchange),
            activity: exchange.user.may(.readUsers) ? try await activity(question, exchange) : nil)
        return Reply(.ok, .page(page))
    }

    private func cards(
        _ users: UserCount, _ clients: ClientCounts, _ exchange: Console.Exchange
    ) async throws -> [OverviewPage.Card] {
        let registry = try await console.registry.atArrival()
        let words = exchange.words
        var cards: [OverviewPage.Card] = []
        if exchange.user.may(.readUsers) {
            cards.append(
                OverviewPage.Card(
                    name: words(LocalizedText("users.title")), count: words(users.users), path: console.path(.users)))
        }
        if exchange.user.may(.readClients) {
            cards.append(
                OverviewPage.Card(
                    name: words(OverviewMessage.apps),
                    count: words(LocalizedText(OverviewMessage.appCount, ["count": .number(clients.all)])),
                    path: console.path(.administration)))
        }
        if exchange.user.may(.readAPIs) {
            cards += [
                OverviewPage.Card(
                    name: words(LocalizedText("administration.scopes")),
                    count: String(try await registry.scopes().count), path: console.path(.scopes)),
                OverviewPage.Card(
                    name: words(LocalizedText("administration.apis")),
                    count: String(try await registry.resources().count), path: console.path(.apis)),
            ]
        }
        return cards
    }

    private func activity(_ question: Question, _ exchange: Console.Exchange) async throws -> OverviewPage.Activity {
        let (range, zone, words) = (question.range, question.zone ?? .gmt, exchange.words)
        let times = range.times(until: exchange.now, in: zone)
        let counts = try await console.store.activity(between: times)
        let names = times.dropLast().map { range.name($0, words, in: zone) }
        let shortNames = times.dropLast().map { range.shortName($0, words, in: zone) }
        let charts = ActivityKind.allCases.map { kind in
            Self.chart(
                of: kind, counts.map { $0[kind] ?? 0 }, in: range, names: names, shortNames: shortNames, words)
        }
        let rows = zip(names, counts).reversed().map { name, counts in
            OverviewPage.Row(
                period: name,
                cells: ActivityKind.allCases.map { kind in
                    OverviewPage.Cell(name: words(kind.label), count: words.number(counts[kind] ?? 0))
                })
        }
        let path = console.path(.overview)
        let zoneName = question.zone == nil || question.typedZone.isEmpty ? "UTC" : question.typedZone
        return OverviewPage.Activity(
            ranges: ActivityRange.allCases.map { other in
                OverviewPage.Range(
                    name: words(other.label), url: path + "?" + question.with(other), isCurrent: other == range)
            },
            range: range.rawValue, action: path,
            zone: FormField(
                Parameter.zone.rawValue, question.typedZone.isEmpty ? "UTC" : question.typedZone,
                problem: question.zone == nil ? words(OverviewMessage.noZone) : nil),
            asksForZone: question.typedZone.isEmpty,
            times: words(LocalizedText("audit.times", ["zone": .text(zoneName)])), charts: charts, rows: rows)
    }

    private static func chart(
        of kind: ActivityKind, _ counts: [Int], in range: ActivityRange, names: [String], shortNames: [String],
        _ words: Localizer
    ) -> OverviewPage.Chart {
        func says(_ message: OverviewMessage, _ index: Int) -> String {
            words(
                LocalizedText(
                    message, ["period": .text(names[index]), "number": .text(words.number(counts[index]))]))
        }
        let highest = counts.indices.max { counts[$0] < counts[$1] }.flatMap { counts[$0] > 0 ? $0 : nil }
        // The sum of numbers that a store has added up cannot be too large, unless its rows were changed.
        let total = counts.reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
        return OverviewPage.Chart(
            id: kind.rawValue, name: words(kind.label), total: words.number(total),
            about: highest.map { says(.highest, $0) } ?? words(OverviewMessage.noEvents),
            drawing: BarChart(
                counts.indices.map { index in
                    BarChart.Period(
                        count: counts[index], shortName: shortNames[index], says: says(.bar, index))
                }, named: range.periodsOfName, words))
    }
}
