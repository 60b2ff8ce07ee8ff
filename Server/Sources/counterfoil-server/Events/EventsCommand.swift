import ArgumentParser
import CounterfoilProtocol
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes
import UnixSignals

/// `events`: prints the events of the audit log for programs.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Print events for programs, one JSON object on each line.",
        discussion: """
            The lines are those that webhooks get, in the same order. Each has an identifier, with which a program \
            tells duplicates, and a cursor, with which it continues: --after prints the events after it, without a gap.

            A running server gives an event its cursor some seconds after it happened. Without a server, events wait \
            for its next start. Events that the audit log has deleted are not printed; a note on standard error says \
            so. With --follow, the command ends on SIGINT and SIGTERM, or when its output is closed.

            \(AuditFilterOptions.times)

            Examples:
              counterfoil-server events --since yesterday --type user.created --data-dir ./data
              counterfoil-server events --follow --after 1234 --data-dir ./data
            """
    )

    /// The seconds for which a request waits for events, by which it ends within the time limit of requests.
    private static let wait = 3

    @Flag(name: .long, help: "Wait for new events, and print them.")
    var follow = false

    @Option(name: .long, help: ArgumentHelp("Begin with the events at this time or later.", valueName: "time"))
    var since: String?

    @Option(name: .long, help: ArgumentHelp("Begin after the event with this cursor.", valueName: "cursor"))
    var after: Int?

    @OptionGroup var types: EventTypeOptions

    @OptionGroup var location: InstallationOption

    @OptionGroup(title: "Another machine") var remote: RemoteOptions

    func validate() throws {
        guard since == nil || after == nil else { throw ValidationError("--since and --after exclude each other.") }
        guard after ?? 0 >= 0 else { throw ValidationError("--after must be the cursor of an event.") }
        guard since.map({ Moment.parse($0, at: Date(), in: .current) != nil }) ?? true else {
            throw ValidationError("--since must be \(Moment.searchForms).")
        }
    }

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        // A closed output is an error of a write, and not a signal that ends the process.
        signal(SIGPIPE, SIG_IGN)
        try await remote.withTransport(on: location, creating: false) { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in signals { return }
                }
                group.addTask { try await print(from: server) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func print(from server: any AdministrationTransport) async throws {
        var start = try beginning()
        var isInterrupted = false
        while !Task.isCancelled {
            do {
                let page = try await page(after: start, of: server)
                if page.hasMissed { Output.note("Events before the next one were deleted from the audit log.") }
                do { try FileHandle.standardOutput.write(contentsOf: page.lines) } catch { return }
                start = ("after", page.cursor)
                isInterrupted = false
                if !follow, !page.hasMore { return }
            } catch let failure as CommandFailure where follow && failure.isTemporary {
                // Another request reads everything that this one has not.
                if !isInterrupted { Output.note("No events can be read; waiting for them: \(failure.message)") }
                isInterrupted = true
                try? await Task.sleep(for: .seconds(1))
            } catch is CancellationError { return }
        }
    }

    /// The position at which the command begins, as a parameter of the API.
    private func beginning() throws -> (name: String, value: String) {
        if let after { return ("after", String(after)) }
        guard let since else { return ("after", follow ? "end" : "0") }
        guard let time = Moment.parse(since, at: Date(), in: .current) else {
            throw CommandFailure.usage("--since must be \(Moment.searchForms).")
        }
        return ("since", Moment.text(time))
    }

    /// The events of one request, as lines.
    private struct Page {
        let lines: Data
        let cursor: String
        let hasMore: Bool
        let hasMissed: Bool
    }

    private func page(
        after start: (name: String, value: String), of server: any AdministrationTransport
    ) async throws -> Page {
        var query = FormParameters([start.name: start.value])
        if !types.types.isEmpty { query.append("types", types.types.joined(separator: " ")) }
        if follow { query.append("wait", String(Self.wait)) }
        let answer = try await server.send(.get, "/events?" + query.encoded, fields: [:], body: [])
        try answer.accepted(options: ["after": "--after", "since": "--since", "types": "--type"])
        func field(_ name: HTTPField.Name?) -> String? { name.flatMap { answer.fields[$0] } }
        // The cursor becomes a part of a URL, and the lines go to a terminal.
        guard let cursor = field(EventFields.cursor).flatMap({ Int($0) }) else {
            throw CommandFailure.refused("the answer of the server has no cursor; is the URL that of the server?")
        }
        let lines = try answer.body.split(separator: UInt8(ascii: "\n")).reduce(into: Data()) { lines, line in
            lines += try Output.encoded(JSONValue.object(try JSONReader.object(Array(line)))) + [UInt8(ascii: "\n")]
        }
        return Page(
            lines: lines, cursor: String(cursor), hasMore: field(EventFields.more) == "true",
            hasMissed: field(EventFields.missedThrough) != nil)
    }
}
