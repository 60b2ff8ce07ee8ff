public import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
public import CounterfoilServer
import Foundation

/// `audit`: what happened.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Say what happened: who did what to which application, from where, and how it ended.",
        discussion: """
            The newest comes first. Nothing in this log is ever changed, and no secret stands in it.

            Examples:
              counterfoil-server audit --kind sign-in --person alice --data-dir ./data
              counterfoil-server audit --client CLIENT_ID --since 2027-01-31 \\
                --json --data-dir ./data
            """
    )

    @Option(name: .long, help: ArgumentHelp("Only events of this kind.", valueName: "kind"))
    var kind: AuditEvent.Kind?

    @Option(name: .long, help: ArgumentHelp("Only what concerns this person, by user name.", valueName: "name"))
    var person: String?

    @Option(name: .long, help: ArgumentHelp("Only what concerns this application, by client_id.", valueName: "id"))
    var client: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only from this moment on: 2027-01-31 or 2027-01-31T09:30:00Z.", valueName: "time"))
    var since: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only what was noted before the event of this number, which --json shows.", valueName: "number"))
    var before: Int?

    @Option(name: .long, help: ArgumentHelp("How many at most, 1 to 1000.", valueName: "n"))
    var limit = 100

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit is a number from 1 to 1000.") }
        guard before.map({ $0 > 0 }) ?? true else {
            throw ValidationError("--before is the number of an event, 1 or more.")
        }
        guard since.map({ Moment.parse($0) != nil }) ?? true else {
            throw ValidationError("--since is a day, such as 2027-01-31, or a time, such as 2027-01-31T09:30:00Z.")
        }
        guard person.map({ Username($0) != nil }) ?? true else {
            throw ValidationError("A user name has 1 to 64 letters, digits and . _ - without spaces.")
        }
        guard client.map({ ClientIdentifier($0) != nil }) ?? true else {
            throw ValidationError("\(client ?? "") cannot be a client_id.")
        }
    }

    func run() async throws {
        try await options.withDirectory(creating: false) { directory in
            var query = AuditQuery(
                kind: kind, clientID: client.flatMap(ClientIdentifier.init), since: since.flatMap(Moment.parse),
                before: before, limit: limit)
            if let person, let username = Username(person) {
                guard let found = try await directory.store.person(named: username) else {
                    throw CommandFailure.refused("there is no person named \(username)")
                }
                query.personID = found.id
            }
            let entries = try await directory.store.audit(query)
            var names: [PersonIdentifier: String] = [:]
            for id in Set(entries.compactMap(\.event.personID)) {
                names[id] = try await directory.store.person(id)?.username.rawValue
            }
            let documents = entries.map { AuditDocument($0, names: names) }
            if options.json { return try Output.json(documents) }
            if documents.isEmpty { return Output.line("Nothing of that kind happened.") }
            for document in documents { Output.line(document.words) }
        }
    }
}

/// An event as `--json` shows it.
private struct AuditDocument: Encodable {
    let number: Int
    let at: String
    let kind: String
    let outcome: String
    let sub: String?
    let username: String?
    let clientID: String?
    let grantID: String?
    let source: String?
    let requestID: String?
    let detail: String?

    private enum CodingKeys: String, CodingKey {
        case number, at, kind, outcome, sub, username, source, detail
        case clientID = "client_id"
        case grantID = "grant_id"
        case requestID = "request_id"
    }

    init(_ entry: AuditEntry, names: [PersonIdentifier: String]) {
        let event = entry.event
        number = entry.number
        at = Moment.text(event.at)
        kind = event.kind.rawValue
        outcome = event.outcome.rawValue
        sub = event.personID?.rawValue
        username = event.personID.flatMap { names[$0] }
        clientID = event.clientID?.rawValue
        grantID = event.grantID?.rawValue
        source = event.source
        requestID = event.requestID
        detail = event.detail
    }

    /// The event on one line for people.
    var words: String {
        let parts = [
            username ?? sub, clientID, source.map { "from \($0)" } ?? "at a terminal", detail.map { "(\($0))" },
        ]
        return "\(at)  \(kind) \(outcome)  " + parts.compactMap(\.self).joined(separator: "  ")
    }
}

extension AuditEvent.Kind: ExpressibleByArgument {}
