import CounterfoilProtocol
import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens

/// A webhook in the output of commands, with its last deliveries if a command shows them.
struct WebhookOutput: Encodable {
    private var webhook: [String: JSONValue]
    private let deliveries: [AdministrationRecord]

    init(_ webhook: AdministrationRecord, newSecret: String? = nil, deliveries: [AdministrationRecord]? = nil) {
        self.webhook = webhook.members
        if let newSecret { self.webhook["secret"] = .string(newSecret) }
        if let deliveries { self.webhook["deliveries"] = .array(deliveries.map { .object($0.members) }) }
        self.deliveries = deliveries ?? []
    }

    func encode(to encoder: any Encoder) throws { try JSONValue.object(webhook).encode(to: encoder) }

    private var record: AdministrationRecord { AdministrationRecord(webhook) }

    private var label: DisplayName { DisplayName(record.text("label") ?? "") }

    /// The webhook as one line of text.
    var line: String {
        let (record, state) = (record, record.text("state") ?? "")
        let isRetrying = state == "active" && (record.integer("failures") ?? 0) > 0
        return [record.shown("id"), isRetrying ? "retrying" : state.visible, record.shown("url"), "\(label)"]
            .joined(separator: "  ")
    }

    private var types: String {
        switch EventType.Choice(of: record.texts("types")) {
        case .all: "all"
        case .usual: "all but \(WebhookTypeOptions.omitted)"
        case .named(let names): names.joined(separator: " ")
        }
    }

    private var words: String {
        let record = record
        var lines = ["\(label)"]
        func add(_ name: String, _ value: String?) {
            if let value { lines.append("  \(name): \(DisplayName(value))") }
        }
        add("id", record.text("id"))
        add("url", record.text("url"))
        add("types", types)
        add("state", record.text("state"))
        add("secret", record.text("secret"))
        add("former secret until", record.text("former_secret_until"))
        add("failing since", record.text("failing_since").map { "\($0), attempts: \(record.integer("failures") ?? 0)" })
        add("next attempt", record.text("next_attempt"))
        if record.members["missed_through"] != nil {
            lines.append("  missed: events were deleted from the audit log before the receiver got them")
        }
        lines += deliveries.map { "  " + Self.line(of: $0) }
        return lines.joined(separator: "\n")
    }

    /// An attempt to send an event, as one line of text.
    private static func line(of delivery: AdministrationRecord) -> String {
        let result = delivery.integer("status").map(String.init) ?? delivery.text("failure")
        let values = [delivery.text("time"), delivery.text("event"), delivery.text("type"), result]
        let words =
            values.map { "\(DisplayName($0 ?? ""))" } + ["\(delivery.integer("milliseconds") ?? 0) ms"]
            + (delivery.flag("resend") ? ["sent again"] : [])
        return words.joined(separator: "  ")
    }

    /// Prints the webhook, and a note about its new secret if it has one.
    func print(json: Bool) throws {
        if json { return try Output.json(self) }
        Output.line(words)
        if record.text("secret") != nil {
            Output.note("The secret is shown only once. Store it where only the receiver can read it.")
        }
    }
}
