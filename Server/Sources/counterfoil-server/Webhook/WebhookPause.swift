import ArgumentParser
import HTTPTypes

struct WebhookPause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause a webhook.",
        discussion: """
            Its events wait in the audit log, which keeps them for their retention and 30 days more.

            Example:
              counterfoil-server webhook pause WEBHOOK --data-dir ./data
            """
    )

    @OptionGroup var existing: WebhookArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let webhook = try await server.webhook(existing, .post, "/pause")
            if options.json { return try Output.json(webhook) }
            Output.line("Paused \(existing.webhook).")
        }
    }
}
