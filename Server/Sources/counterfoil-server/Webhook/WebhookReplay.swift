import ArgumentParser
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import Foundation
import HTTPTypes

struct WebhookReplay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Continue a webhook with the events since a time.",
        discussion: """
            With a time in the past, the receiver gets events again, with the same webhook-id. With a time after the \
            event that is due, it does not get the events before that time: so it gets past an event that it cannot \
            process. Events that the audit log has deleted are not sent. A webhook that is paused or disabled stays \
            so, and continues from there after: counterfoil-server webhook resume

            \(AuditFilterOptions.times)

            Example:
              counterfoil-server webhook replay WEBHOOK --since yesterday --data-dir ./data
            """
    )

    @OptionGroup var existing: WebhookArgument

    @Option(name: .long, help: ArgumentHelp("The time of the first event.", valueName: "time"))
    var since: String

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard Moment.parse(since, at: Date(), in: .current) != nil else {
            throw ValidationError("--since must be \(Moment.searchForms).")
        }
    }

    func run() async throws {
        guard let start = Moment.parse(since, at: Date(), in: .current) else {
            throw CommandFailure.usage("--since must be \(Moment.searchForms).")
        }
        try await options.withServer { server in
            let webhook = try await server.webhook(existing, .post, "/replay", ["since": .string(Moment.text(start))])
            if options.json { return try Output.json(webhook) }
            Output.line("\(existing.webhook) continues with the events since \(Moment.text(start)).")
            if webhook.text("state") != "active" {
                Output.note(
                    "The webhook is \(webhook.text("state") == "paused" ? "paused" : "disabled"), and gets nothing "
                        + "before: counterfoil-server webhook resume \(existing.webhook)")
            }
        }
    }
}
