import ArgumentParser
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

struct WebhookEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the URL, the label or the event types of a webhook.",
        discussion: """
            Only the given options change. If --type is given, only these types are sent from the next event on. The \
            next attempt of an active webhook follows at once.

            Example:
              counterfoil-server webhook edit WEBHOOK --url https://hooks.example.com/v2 \\
                --data-dir ./data
            """
    )

    @OptionGroup var existing: WebhookArgument

    @Option(name: .long, help: "The URL to which the server posts events: https, with a host name.")
    var url: String?

    @Option(name: .long, help: "The name of the receiver for administrators, 1 to 100 characters.")
    var label: String?

    @OptionGroup var types: WebhookTypeOptions

    @Flag(name: .long, help: "Send the events of the types that a new webhook gets by default.")
    var defaultTypes = false

    @OptionGroup var options: OperationOptions

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard url != nil || label != nil || types.chosen != nil || defaultTypes else {
            throw ValidationError("Give at least one change. See: counterfoil-server webhook edit --help")
        }
        guard types.chosen == nil || !defaultTypes else {
            throw ValidationError("--default-types excludes --type and --all-types.")
        }
        var members: [String: JSONValue] = [:]
        if let url { members["url"] = .string(url) }
        if let label { members["label"] = .string(label) }
        types.write(into: &members)
        if defaultTypes { members["types"] = .array([]) }
        try await options.withServer { server in
            let former = try await server.webhook(existing)
            let webhook = try await server.change(.patch, existing.path, ifMatch: former.tag, members)
                .record(options: WebhookArgument.options, missing: existing.notFound)
            try WebhookOutput(webhook).print(json: options.json)
        }
    }
}
