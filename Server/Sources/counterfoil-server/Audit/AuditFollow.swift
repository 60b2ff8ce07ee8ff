import ArgumentParser
import CounterfoilServer
import CounterfoilStore
import Foundation
import UnixSignals

/// `audit follow`: prints events as they are recorded.
struct AuditFollow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Print events as they are recorded.",
        discussion: """
            The command prints each new event, on every server of the store, within about a second. It ends on \
            SIGINT and SIGTERM, or when its output is closed. With --json, each line is one JSON object, as in an \
            export.

            To continue after an interruption, pass the position of the last printed event to --after. The events of \
            the 10 minutes before that position are printed again, because some may have been recorded since then; \
            "number" identifies an event.

            Examples:
              counterfoil-server audit follow --data-dir ./data
              counterfoil-server audit follow --json --after 1801387800123456.1234 \\
                --data-dir ./data
            """
    )

    /// The pause between two looks at the log.
    private static let pause = Duration.seconds(1)

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Begin with the events after this position of an event. (default: new events only)",
            valueName: "position"))
    var after: AuditPosition?

    @Flag(name: .long, help: "Show times in the time zone of this machine instead of UTC; --json keeps UTC.")
    var localTime = false

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        // A closed output is an error of a write, and not a signal that ends the process.
        signal(SIGPIPE, SIG_IGN)
        try await options.withInstallation(creating: false) { installation in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in signals { return }
                }
                group.addTask { try await follow(installation) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func follow(_ installation: Installation) async throws {
        let store = installation.store
        var follower =
            if let after { AuditFollower(of: store, after: after) } else {
                try await AuditFollower(newEventsOf: store, at: store.now())
            }
        var isInterrupted = false
        while !Task.isCancelled {
            do {
                try await follower.look(at: store.now()) { entries in
                    try write(try await AuditDocument.documents(of: entries, in: store))
                }
                isInterrupted = false
            } catch is ClosedOutput {
                return
            } catch StoreFault.unavailable(let reason) {
                // Another look reads everything that this one has not.
                if !isInterrupted { Output.note("The store is unavailable; waiting for it: \(reason)") }
                isInterrupted = true
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// The error of an output that its reader has closed.
    private struct ClosedOutput: Error {}

    private func write(_ documents: [AuditDocument]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var lines = Data()
        for document in documents {
            let zone: TimeZone? = localTime ? .current : nil
            lines +=
                try options.json
                ? encoder.encode(document)
                : Data(AuditLine.text(of: try AdministrationRecord(of: document), in: zone).utf8)
            lines.append(UInt8(ascii: "\n"))
        }
        do { try FileHandle.standardOutput.write(contentsOf: lines) } catch { throw ClosedOutput() }
    }
}
