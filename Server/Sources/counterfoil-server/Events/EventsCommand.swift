import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import Foundation
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

    /// The time for which one look waits for events.
    private static let wait = Duration.seconds(30)

    @Flag(name: .long, help: "Wait for new events, and print them.")
    var follow = false

    @Option(name: .long, help: ArgumentHelp("Begin with the events at this time or later.", valueName: "time"))
    var since: String?

    @Option(name: .long, help: ArgumentHelp("Begin after the event with this cursor.", valueName: "cursor"))
    var after: Int?

    @OptionGroup var types: EventTypeOptions

    @OptionGroup var location: InstallationOption

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
        try await location.withInstallation(creating: false) { installation in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in signals { return }
                }
                group.addTask { try await print(installation) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func print(_ installation: Installation) async throws {
        let reader = installation.events
        var cursor = try await start(in: installation)
        let end = try await reader.end()
        guard cursor <= end else {
            throw CommandFailure.refused(
                "--after: no event has the cursor \(cursor) yet; the last one is \(end). After a restore from a copy, "
                    + "begin with --since")
        }
        var isInterrupted = false
        while !Task.isCancelled {
            do {
                let page = try await reader.read(
                    after: cursor, types: Set(types.types), limit: EventReader.page,
                    waiting: follow ? Self.wait : .zero)
                if page.missedThrough != nil {
                    Output.note("Events before the next one were deleted from the audit log.")
                }
                let lines = Data(try page.lines)
                do { try FileHandle.standardOutput.write(contentsOf: lines) } catch { return }
                cursor = page.cursor
                isInterrupted = false
                if !follow, !page.hasMore { return }
            } catch is CancellationError {
                return
            } catch StoreFault.unavailable(let reason) where follow {
                // Another look reads everything that this one has not.
                if !isInterrupted { Output.note("The store is unavailable; waiting for it: \(reason)") }
                isInterrupted = true
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func start(in installation: Installation) async throws -> Int {
        if let after { return after }
        guard let since else { return follow ? try await installation.events.end() : 0 }
        guard let time = Moment.parse(since, at: installation.store.now(), in: .current) else {
            throw CommandFailure.usage("--since must be \(Moment.searchForms).")
        }
        return try await installation.events.cursor(since: time)
    }
}
