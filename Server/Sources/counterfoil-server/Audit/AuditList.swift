import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import Foundation

/// `audit list`: lists the newest events.
struct AuditList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List events, newest first.",
        discussion: """
            An event must satisfy every given condition. \(AuditFilterOptions.times)

            A line has the names of fields in the log of the server; "request" is the reference of a refusal.

            Examples:
              counterfoil-server audit list --request 6f1f0c1f9b7d4c0e --data-dir ./data
              counterfoil-server audit list --kind sign-in --client CLIENT_ID \\
                --since yesterday --data-dir ./data
              counterfoil-server audit list --person alice --outcome refused \\
                --since 2027-01-31T03:00 --until 2027-01-31T03:30 --data-dir ./data
            """
    )

    @OptionGroup var filter: AuditFilterOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only events before this position of an event, which --json shows.", valueName: "position"))
    var before: AuditPosition?

    @Option(name: .long, help: ArgumentHelp("The number of events to list, 1 to 1000.", valueName: "n"))
    var limit = 100

    @Flag(name: .long, help: "Show times in the time zone of this machine instead of UTC; --json keeps UTC.")
    var localTime = false

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit must be a number from 1 to 1000.") }
    }

    func run() async throws {
        let now = Date()
        let position = before.map { [("before", "\($0)")] } ?? []
        try await options.withServer { server in
            var events: [AdministrationRecord] = []
            try await server.auditEvents(filter.parameters(at: now) + position, atMost: limit) { events += $0 }
            if options.json { return try Output.json(events) }
            if events.isEmpty { Output.line("No matching events.") }
            for event in events { Output.line(AuditLine.text(of: event, in: localTime ? .current : nil)) }
            note(filter.query(at: now), isEmpty: events.isEmpty)
        }
    }

    /// Prints the searched period, and all conditions if no event matches them.
    private func note(_ query: AuditQuery, isEmpty: Bool) {
        let conditions = isEmpty ? filter.conditions + (before.map { ["--before \($0)"] } ?? []) : []
        let period = Moment.period(since: query.since, before: query.until)
        let searched = conditions + [period].compactMap(\.self)
        guard !searched.isEmpty else { return }
        let form = isEmpty && filter.request != nil ? " A reference must be complete, and its case counts." : ""
        Output.note("Searched: \(searched.joined(separator: ", ")).\(form)")
    }
}
