import ArgumentParser
import HTTPTypes

struct WebhookDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a webhook with its secret and its deliveries.",
        discussion: """
            Example:
              counterfoil-server webhook delete WEBHOOK --data-dir ./data
            """
    )

    @OptionGroup var existing: WebhookArgument

    @OptionGroup var options: OperationOptions

    func run() async throws {
        try await options.withServer { server in
            let webhook = try await server.webhook(existing)
            try await server.change(.delete, existing.path).accepted(missing: existing.notFound)
            if options.json { return try Output.json(webhook) }
            Output.line("Deleted \(existing.webhook).")
        }
    }
}
