import ArgumentParser

struct WebhookList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the webhooks, oldest first.",
        discussion: """
            Each line has the identifier, the state, the URL and the label. The state is active, retrying after a \
            failure, paused, gone after status 410, or failing after five days of failures.

            Example:
              counterfoil-server webhook list --data-dir ./data
            """
    )

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let webhooks = try await server.items(of: "/webhooks").map { WebhookOutput($0) }
            if options.json { return try Output.json(webhooks) }
            if webhooks.isEmpty { Output.line("There are no webhooks.") }
            for webhook in webhooks { Output.line(webhook.line) }
        }
    }
}
