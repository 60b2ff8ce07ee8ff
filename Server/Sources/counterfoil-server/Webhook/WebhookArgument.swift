import ArgumentParser
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens
import HTTPTypes

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

    /// Writes the chosen types, if there are any, into the body of a request.
    func write(into members: inout [String: JSONValue]) {
        if let chosen { members["types"] = .array(chosen.map { .string($0) }) }
    }

    func validate() throws {
        try EventTypeOptions.check(types)
        guard types.isEmpty || !allTypes else {
            throw ValidationError("--type and --all-types exclude each other.")
        }
    }
}

extension WebhookArgument {
    /// The options by the members of a webhook.
    static let options = ["url": "the URL", "label": "--label", "types": "--type"]

    /// The path of the webhook in the administration API.
    var path: String { "/webhooks/" + AdministrationOperation.segment(webhook) }

    var notFound: CommandFailure {
        .refused("there is no webhook \(EscapedText(webhook)); see: counterfoil-server webhook list")
    }
}

extension AdministrationTransport {
    /// Reads a webhook, or makes a change that has it as its answer; fails the command if there is none.
    func webhook(
        _ argument: WebhookArgument, _ method: HTTPRequest.Method = .get, _ action: String = "",
        _ body: [String: JSONValue]? = nil
    ) async throws -> AdministrationRecord {
        try await change(method, argument.path + action, body).record(missing: argument.notFound)
    }
}
