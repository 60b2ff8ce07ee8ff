import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let former = try await installation.webhook(existing)
            guard former.state == .active else { throw CommandFailure.refused("the webhook sends nothing already") }
            do {
                guard try await installation.webhookAdministration.pause(former) else {
                    throw CommandFailure.webhookDeleted
                }
            } catch let refusal as WebhookRefusal { throw CommandFailure.refused(refusal) }
            if options.json { return try Output.json(WebhookOutput(try await installation.changed(former))) }
            Output.line("Paused \(former.id).")
        }
    }
}
