import ArgumentParser
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens

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

    @OptionGroup var options: OperationOptions

    func validate() throws {
        guard WebhookAdministration.overlaps.contains(overlapHours) else {
            throw ValidationError("--overlap-hours must be a number from 0 to 168.")
        }
    }

    func run() async throws {
        try await options.withServer { server in
            let hours: [String: JSONValue] = ["overlap_hours": .integer(Int64(overlapHours))]
            let secret = try await server.create(existing.path + "/secret", hours).record(missing: existing.notFound)
            try WebhookOutput(try await server.webhook(existing), newSecret: secret.text("secret"))
                .print(json: options.json)
        }
    }
}
