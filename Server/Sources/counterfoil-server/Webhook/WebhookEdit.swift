import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

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

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard url != nil || label != nil || types.chosen != nil || defaultTypes else {
            throw ValidationError("Give at least one change. See: counterfoil-server webhook edit --help")
        }
        guard types.chosen == nil || !defaultTypes else {
            throw ValidationError("--default-types excludes --type and --all-types.")
        }
        try await options.withInstallation(creating: false) { installation in
            let former = try await installation.webhook(existing)
            var draft = WebhookDraft(former)
            if let url { draft.url = url }
            if let label { draft.label = label }
            if let chosen = types.chosen { draft.types = chosen }
            if defaultTypes { draft.types = [] }
            do {
                guard try await installation.webhookAdministration.change(former, to: draft) else {
                    throw CommandFailure.webhookDeleted
                }
            } catch let refusal as WebhookRefusal { throw CommandFailure.refused(refusal) }
            try WebhookOutput(try await installation.changed(former)).print(json: options.json)
        }
    }
}
