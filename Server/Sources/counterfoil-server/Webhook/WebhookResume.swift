import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let former = try await installation.webhook(existing)
            do {
                guard try await installation.webhookAdministration.resume(former) else {
                    throw CommandFailure.webhookDeleted
                }
            } catch let refusal as WebhookRefusal { throw CommandFailure.refused(refusal) }
            if options.json { return try Output.json(WebhookOutput(try await installation.changed(former))) }
            Output.line("Resumed \(former.id).")
        }
    }
}
