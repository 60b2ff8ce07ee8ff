import ArgumentParser
import HTTPTypes

struct WebhookResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Continue a webhook that is paused or disabled.",
        discussion: """
            It continues with the event at which it stopped. A webhook that waits for its next attempt makes it at \
            once. To leave events out, use: counterfoil-server webhook replay

            Example:
              counterfoil-server webhook resume WEBHOOK --data-dir ./data
            """
    )

    @OptionGroup var existing: WebhookArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let webhook = try await server.webhook(existing, .post, "/resume")
            if options.json { return try Output.json(webhook) }
            Output.line("Resumed \(existing.webhook).")
        }
    }
}
