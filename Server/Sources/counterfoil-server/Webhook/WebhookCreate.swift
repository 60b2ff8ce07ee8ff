import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens

struct WebhookCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a webhook.",
        discussion: """
            The webhook gets the events from now on. The secret, with which the server signs its requests, is printed \
            only once. Each event waits until the receiver has accepted the previous one. So without --type, the webhook \
            gets no refusals that strangers can cause without limit; they would delay the other events.

            Example:
              counterfoil-server webhook create https://hooks.example.com/counterfoil \\
                --label "Photo library" --type user.created --type user.deleted \\
                --data-dir ./data
            """
    )

    @Argument(help: "The URL to which the server posts events: https, with a host name.")
    var url: String

    @Option(name: .long, help: "The name of the receiver for administrators, 1 to 100 characters.")
    var label: String

    @OptionGroup var types: WebhookTypeOptions

    @OptionGroup var options: OperationOptions

    func run() async throws {
        var members: [String: JSONValue] = ["url": .string(url), "label": .string(label)]
        types.write(into: &members)
        try await options.withServer(creating: true) { server in
            let webhook = try await server.create("/webhooks", members).record(options: WebhookArgument.options)
            try WebhookOutput(webhook).print(json: options.json)
        }
    }
}
