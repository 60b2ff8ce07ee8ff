import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct WebhookResend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: "Send an event of the last deliveries again.",
        discussion: """
            A running server sends it once within some seconds, also if the webhook is paused or disabled, and with \
            the same webhook-id. The events after it are not sent again; for that, use: counterfoil-server webhook \
            replay

            Example:
              counterfoil-server webhook resend WEBHOOK EVENT --data-dir ./data
            """
    )

    @OptionGroup var existing: WebhookArgument

    @Argument(help: "The identifier of the event, such as evt_…; see: webhook show")
    var event: String

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            try await server.change(.post, existing.path + "/resend", ["event": .string(event)])
                .accepted(missing: existing.notFound)
            if options.json { return try Output.json(["queued": event]) }
            Output.line("Queued \(event). See the result with: counterfoil-server webhook show \(existing.webhook)")
        }
    }
}
