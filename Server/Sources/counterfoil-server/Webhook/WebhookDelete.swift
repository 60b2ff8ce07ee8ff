import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let webhook = try await installation.webhook(existing)
            guard try await installation.webhookAdministration.delete(webhook) else {
                throw CommandFailure.webhookDeleted
            }
            if options.json { return try Output.json(WebhookOutput(webhook)) }
            Output.line("Deleted \(webhook.id).")
        }
    }
}
