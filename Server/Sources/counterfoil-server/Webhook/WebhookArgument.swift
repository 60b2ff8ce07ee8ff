import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

/// The argument that names an existing webhook.
struct WebhookArgument: ParsableArguments {
    @Argument(help: "The identifier of the webhook, such as wh_…; see: webhook list")
    var webhook: String
}

/// The option with the event types of the command `events`.
struct EventTypeOptions: ParsableArguments {
    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            "Only events of this type, such as user.created. Can be repeated. (default: all types)",
            valueName: "type"))
    var types: [String] = []

    func validate() throws { try Self.check(types) }

    static func check(_ types: [String]) throws {
        for type in types where EventType(known: type) == nil {
            throw ValidationError(
                "--type: \(type) is no event type. The types are:\n\n"
                    + EventType.allCases.map { "  \($0.rawValue)" }.joined(separator: "\n"))
        }
    }
}

/// The options with the event types of a webhook.
struct WebhookTypeOptions: ParsableArguments {
    /// The types that a webhook does not get by default, as a text of the help.
    static let omitted = EventType.ofStrangers.map(\.rawValue).sorted().joined(separator: ", ")

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            "Only events of this type, such as user.created. Can be repeated. (default: all types but those that "
                + "strangers can cause without limit: \(WebhookTypeOptions.omitted))",
            valueName: "type"))
    var types: [String] = []

    @Flag(name: .long, help: "Send the events of all types, also those that strangers can cause without limit.")
    var allTypes = false

    /// The names of the chosen types; nil if none are chosen.
    var chosen: [String]? { allTypes ? EventType.allCases.map(\.rawValue) : types.isEmpty ? nil : types }

    func validate() throws {
        try EventTypeOptions.check(types)
        guard types.isEmpty || !allTypes else {
            throw ValidationError("--type and --all-types exclude each other.")
        }
    }
}

extension Installation {
    /// Returns the webhook with an identifier; fails the command if there is none.
    func webhook(_ argument: WebhookArgument) async throws -> Webhook {
        guard let id = WebhookIdentifier(argument.webhook), let webhook = try await store.webhook(id) else {
            throw CommandFailure.refused(
                "there is no webhook \(EscapedText(argument.webhook)); see: counterfoil-server webhook list")
        }
        return webhook
    }

    /// Returns a webhook that a command has changed.
    func changed(_ webhook: Webhook) async throws -> Webhook {
        guard let changed = try await store.webhook(webhook.id) else { throw CommandFailure.webhookDeleted }
        return changed
    }

    /// The changes of webhooks, whose events say that they were made at the command line.
    var webhookAdministration: WebhookAdministration {
        WebhookAdministration(
            store, serverKey: serverKey, at: store.now(),
            recording: { [self] kind, detail in event(kind, detail: detail) })
    }

    /// The reader of events.
    var events: EventReader { EventReader(store, serverKey: serverKey) }
}

extension CommandFailure {
    static var webhookDeleted: CommandFailure { .temporary("another command has just deleted this webhook") }

    /// Creates a failure with the problems of a webhook; a retry can help if another command was faster.
    static func refused(_ refusal: WebhookRefusal) -> CommandFailure {
        if refusal.problems.contains(where: {
            $0.text.key == WebhookDraft.FieldProblem.Reason.changedMeanwhile.rawValue
        }) {
            return .temporary("the webhook was changed at the same time; try again")
        }
        return .refused(refusal.problems.map { Localizer.english($0.text) }.joined(separator: " "))
    }
}
