@_spi(Counterfoil) import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The search, the state and the order of a list of clients, in the query of its URL.
struct ClientFilter {
    /// The number of clients on a page.
    static let limit = 50

    private var search = ""
    private var state = ""
    private var order = ""
    private var after = ""
    private var id = ""
    private var notice = ""

    /// The error for a query that no page of this server leads to, such as one with an unknown name.
    private struct Unknown: Error {}

    private static var fields: [(name: String, value: WritableKeyPath<ClientFilter, String>)] {
        [
            ("search", \.search), ("state", \.state), ("order", \.order), ("after", \.after), ("id", \.id),
            (Reply.noticeParameter, \.notice),
        ]
    }

    /// A part of the filter that is not understood; the field is nil for the URL as a whole.
    private var mistakes: [(field: String?, message: ClientListMessage)] = []

    /// The query of the list; nil if a part of the filter is not understood, so that it does not widen the answer.
    private(set) var query: ClientQuery?

    /// Reads the filter of a request.
    ///
    /// - Parameter developer: The user whose clients are listed; nil for all clients.
    init(_ exchange: Console.Exchange, developer: UserIdentifier?) {
        do { try read(exchange.request.query) } catch { mistakes.append((nil, .noFilter)) }
        var query = ClientQuery(developer: developer, limit: Self.limit)
        if !search.isEmpty {
            query.search = ClientSearch(search)
            if query.search == nil { mistakes.append(("search", .badSearch)) }
        }
        if !state.isEmpty {
            query.state = ClientQuery.State(rawValue: state)
            if query.state == nil { mistakes.append(("state", .noChoice)) }
        }
        if !order.isEmpty {
            if let chosen = ClientQuery.Order(rawValue: order) {
                query.order = chosen
            } else {
                mistakes.append(("order", .noChoice))
            }
        }
        if !id.isEmpty || !after.isEmpty {
            query.after = ClientCursor(after, id, in: query.order)
            if query.after == nil { mistakes.append((nil, .noFilter)) }
        }
        self.query = mistakes.isEmpty ? query : nil
    }

    private mutating func read(_ text: String) throws {
        for pair in try FormParameters(parsing: text).pairs {
            guard let field = Self.fields.first(where: { $0.name == pair.name })?.value, self[keyPath: field].isEmpty
            else { throw Unknown() }
            // The place in the list is no typed text.
            self[keyPath: field] = field == \ClientFilter.after ? pair.value : pair.value.trimmingWhitespace()
        }
    }

    /// Whether the list is the first page of all clients.
    var isWhole: Bool { search.isEmpty && state.isEmpty && id.isEmpty && mistakes.isEmpty }

    func problems(_ words: Localizer) -> [FormProblem] {
        mistakes.map { FormProblem(words($0.message), field: $0.field) }
    }

    /// Returns the fields of the form.
    func form(_ words: Localizer, action: String) -> ClientFilterForm {
        func problem(_ field: String) -> String? { mistakes.first { $0.field == field }.map { words($0.message) } }
        func choices(_ name: String, _ chosen: String, _ all: [(String, ClientListMessage)]) -> FormChoices {
            FormChoices(
                name, all.map { FormChoices.Choice($0.0, label: words($0.1), isChosen: $0.0 == chosen) },
                problem: problem(name))
        }
        return ClientFilterForm(
            search: FormField("search", search, problem: problem("search")),
            state: choices(
                "state", state,
                [
                    ("", .everyState), ("pending", .pending), ("machine-access", .machineAccess),
                    ("development", .inDevelopment), ("suspended", .suspended),
                ]),
            order: choices("order", order.isEmpty ? "name" : order, [("name", .byName), ("newest", .newest)]),
            isOpen: !state.isEmpty || !order.isEmpty,
            action: action)
    }

    /// Returns the URL of the page after a client, with the same filter.
    func path(of action: String, after cursor: ClientCursor) -> String {
        var query = FormParameters()
        for (name, value) in Self.fields.prefix(3) where !self[keyPath: value].isEmpty {
            query.append(name, self[keyPath: value])
        }
        query.append("after", cursor.key)
        query.append("id", cursor.id.rawValue)
        return action + "?" + query.encoded
    }

    /// Returns the URL of the list with the clients in a state.
    static func path(of action: String, in state: ClientQuery.State) -> String {
        action + "?" + FormParameters(["state": state.rawValue]).encoded
    }
}

/// The fields of the form that searches a list of clients.
package struct ClientFilterForm: Sendable, Hashable {
    /// The field `search`: the beginning of a name, a client ID, or the username of an owner.
    package var search: FormField
    /// The field `state`.
    package var state: FormChoices
    /// The field `order`.
    package var order: FormChoices
    /// Whether the state and the order are shown, because one of them is set.
    package var isOpen: Bool
    /// The path that the form sends a GET request to.
    package var action: String
}

/// The labels and errors of the lists of clients.
enum ClientListMessage: String, LocalizationKey {
    case everyState = "users.state.every"
    case pending = "applications.list.pending"
    case machineAccess = "applications.list.machine-access"
    case inDevelopment = "applications.list.in-development"
    case suspended = "applications.list.suspended"
    case byName = "applications.list.by-name"
    case newest = "applications.list.newest"
    case count = "applications.list.count"
    case countMany = "applications.list.count-many"
    case badSearch = "users.bad-search"
    case noChoice = "audit.no-choice"
    case noFilter = "audit.no-filter"
}

extension UserCount {
    /// The number with the word for apps.
    var clients: LocalizedText {
        LocalizedText(isExact ? ClientListMessage.count : .countMany, ["count": .number(number)])
    }
}

extension Console {
    /// A list of clients as a filter finds them.
    struct FilteredClients {
        var clients: [ClientSummary] = []
        /// The number of clients, in words; nil on a later page, and if there is none.
        var count: String?
        /// The URL of the page with the next clients; nil if there are none.
        var next: String?
    }

    /// Finds the clients of a filter.
    func clients(_ filter: ClientFilter, at action: String, _ exchange: Exchange) async throws -> FilteredClients {
        guard let query = filter.query else { return FilteredClients() }
        let found = try await store.clients(matching: query)
        let count = query.after == nil ? try await store.clientCount(matching: query) : nil
        return FilteredClients(
            clients: found.clients.map { listed in
                let owner = listed.client.owner == exchange.user.id ? nil : listed.owner
                var summary = ClientSummary(
                    listed.client, words: exchange.words, issuer: settings.issuer, owner: owner)
                summary.use = use(listed.use, of: listed.client, exchange)
                // The column says that the number is of users.
                summary.use?.users = exchange.words(listed.use.users.text)
                return summary
            },
            count: count.flatMap { $0.number == 0 ? nil : exchange.words($0.clients) },
            next: found.next.map { filter.path(of: action, after: $0) })
    }

    /// Describes the use of a client; nil for a service, which no user uses.
    func use(_ use: ClientUse, of client: RegisteredClient, _ exchange: Exchange) -> ClientSummary.Use? {
        guard client.type != .service else { return nil }
        return ClientSummary.Use(
            users: exchange.words(use.users.users),
            lastUsed: use.lastUsedAt.map { exchange.words.ago($0, now: exchange.now) })
    }
}
