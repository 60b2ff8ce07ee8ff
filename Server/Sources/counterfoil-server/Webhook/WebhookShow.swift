import ArgumentParser
import CounterfoilServer
import CounterfoilStore

struct WebhookShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a webhook with its last deliveries, newest first.",
        discussion: """
            The secret is not shown. A delivery without a status got no response; its line has the reason.

            Example:
              counterfoil-server webhook show WEBHOOK --data-dir ./data
            """
    )

    @OptionGroup var existing: WebhookArgument

    @Option(name: .long, help: ArgumentHelp("The number of deliveries to show, 0 to 200.", valueName: "n"))
    var limit = 20

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard (0...Webhook.deliveryLimit).contains(limit) else {
            throw ValidationError("--limit must be a number from 0 to \(Webhook.deliveryLimit).")
        }
    }

    func run() async throws {
        try await options.withServer { server in
            let webhook = try await server.webhook(existing)
            let deliveries = try await server.items(of: existing.path + "/deliveries", atMost: limit)
            try WebhookOutput(webhook, deliveries: deliveries).print(json: options.json)
        }
    }
}
