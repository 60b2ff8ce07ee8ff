import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

struct WebhookRotateSecret: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-secret",
        abstract: "Replace the secret of a webhook.",
        discussion: """
            The new secret is printed once. The former one signs beside it for some hours, so a receiver that accepts \
            either signature misses nothing. If the former secret was stolen, use --overlap-hours 0.

            Example:
              counterfoil-server webhook rotate-secret WEBHOOK --data-dir ./data
            """
    )

    @OptionGroup var existing: WebhookArgument

    @Option(
        name: .long,
        help: ArgumentHelp("The hours for which the former secret still signs, 0 to 168.", valueName: "hours"))
    var overlapHours = WebhookAdministration.overlapHours

    @OptionGroup var options: AdministrationOptions

    func validate() throws {
        guard WebhookAdministration.overlaps.contains(overlapHours) else {
            throw ValidationError("--overlap-hours must be a number from 0 to 168.")
        }
    }

    func run() async throws {
        try await options.withInstallation(creating: false) { installation in
            let former = try await installation.webhook(existing)
            do {
                let secret = try await installation.webhookAdministration.replaceSecret(
                    of: former, overlapping: overlapHours)
                guard let secret else { throw CommandFailure.webhookDeleted }
                try WebhookOutput(try await installation.changed(former), newSecret: secret)
                    .print(json: options.json)
            } catch let refusal as WebhookRefusal { throw CommandFailure.refused(refusal) }
        }
    }
}
