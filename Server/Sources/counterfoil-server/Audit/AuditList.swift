import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import CounterfoilWeb
import Foundation

/// `audit list`: lists the newest events.
struct AuditList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List events, newest first.",
        discussion: """
            An event must satisfy every given condition. A time is a day, which begins at 00:00 UTC, or a time such \
            as 2027-01-31T03:12, in the time zone of this machine, 2027-01-31T02:12Z or 2027-01-31T03:12+01:00. The \
            command prints the searched period on standard error, in UTC and in that time zone.

            A line has the names of fields in the log of the server; "request" is the reference of a refusal.

            Examples:
              counterfoil-server audit list --request 6f1f0c1f9b7d4c0e --data-dir ./data
              counterfoil-server audit list --person alice --outcome refused \\
                --since 2027-01-31T03:00 --until 2027-01-31T03:30 --data-dir ./data
            """
    )

    @Option(name: .long, help: ArgumentHelp("Only events of this kind.", valueName: "kind"))
    var kind: AuditEvent.Kind?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only events of this user, by user name, or by the pseudonym of a deleted user.", valueName: "name"))
    var person: String?

    @Option(name: .long, help: ArgumentHelp("Only events of this app, by client_id.", valueName: "id"))
    var client: String?

    @Option(name: .long, help: ArgumentHelp("Only events with this outcome.", valueName: "outcome"))
    var outcome: AuditEvent.Outcome?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only events from this IP address; an IPv6 address stands for its network of 64 bits.",
            valueName: "address"))
    var source: String?

    @Option(
        name: .long,
        // A proxy can choose a reference that begins with a hyphen.
        parsing: .unconditional,
        help: ArgumentHelp("Only events of the request with this reference.", valueName: "reference"))
    var request: String?

    @Option(name: .long, help: ArgumentHelp("Only events at this time or later.", valueName: "time"))
    var since: String?

    @Option(name: .long, help: ArgumentHelp("Only events before this time.", valueName: "time"))
    var until: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only events before this position of an event, which --json shows.", valueName: "position"))
    var before: AuditPosition?

    @Option(name: .long, help: ArgumentHelp("The number of events to list, 1 to 1000.", valueName: "n"))
    var limit = 100

    @Flag(name: .long, help: "Show times in the time zone of this machine instead of UTC; --json keeps UTC.")
    var localTime = false

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be a number from 1 to 1000.") }
        for (name, text) in [("--since", since), ("--until", until)] {
            guard text.map({ Moment.parse($0) != nil }) ?? true else {
                throw ValidationError("\(name) must be \(Moment.forms).")
            }
        }
        guard person.map({ Username($0) != nil }) ?? true else {
            throw ValidationError("A user name has 1 to 64 letters, digits and . _ - without spaces.")
        }
        guard client.map({ ClientIdentifier($0) != nil }) ?? true else {
            throw ValidationError("--client: \(client ?? "") is not a valid client_id.")
        }
        guard source.map({ CountedSource(typed: $0) != nil }) ?? true else {
            throw ValidationError("--source must be an IP address, such as 203.0.113.7 or 2001:db8::1.")
        }
        guard request.map(IncomingRequest.isIdentifier) ?? true else {
            throw ValidationError("--request must be a whole reference: 1 to 64 letters, digits and - . _ : = + /")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            var query = AuditQuery(
                kind: kind, clientID: client.flatMap(ClientIdentifier.init), outcome: outcome,
                source: source.flatMap { CountedSource(typed: $0)?.name }, requestID: request,
                since: since.flatMap { Moment.parse($0) }, until: until.flatMap { Moment.parse($0, .last) },
                before: before, limit: limit)
            if let pseudonym = person.flatMap(UserIdentifier.init), pseudonym.isPseudonym {
                query.userID = pseudonym
            } else if let person, let username = Username(person) {
                guard let found = try await installation.store.user(named: username) else {
                    throw CommandFailure.refused(
                        "there is no user named \(username); see: counterfoil-server user list")
                }
                query.userID = found.id
            }
            let entries = try await installation.store.audit(query)
            let documents = try await AuditDocument.documents(of: entries, in: installation.store)
            if options.json { return try Output.json(documents) }
            if documents.isEmpty { Output.line("No matching events.") }
            for document in documents { Output.line(document.words(in: localTime ? .current : nil)) }
            note(query, isEmpty: documents.isEmpty)
        }
    }

    /// Prints the searched period, and all conditions if no event matches them.
    private func note(_ query: AuditQuery, isEmpty: Bool) {
        let options = [
            ("--kind", kind?.rawValue), ("--person", person), ("--client", client), ("--outcome", outcome?.rawValue),
            ("--source", query.source), ("--request", request), ("--before", before.map { "\($0)" }),
        ]
        let conditions = isEmpty ? options.compactMap { name, value in value.map { "\(name) \($0)" } } : []
        let period = Moment.period(since: query.since, before: query.until)
        let searched = conditions + [period].compactMap(\.self)
        guard !searched.isEmpty else { return }
        let form = isEmpty && request != nil ? " A reference must be complete, and its case counts." : ""
        Output.note("Searched: \(searched.joined(separator: ", ")).\(form)")
    }
}
