import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation

/// A webhook in the output of commands, with its last deliveries if a command shows them.
struct WebhookOutput: Encodable {
    private let webhook: Webhook
    private let newSecret: WebhookSecret?
    private let deliveries: [WebhookDeliveryDocument]?

    init(_ webhook: Webhook, newSecret: WebhookSecret? = nil, deliveries: [WebhookDelivery]? = nil) {
        self.webhook = webhook
        self.newSecret = newSecret
        self.deliveries = deliveries?.map { WebhookDeliveryDocument($0) }
    }

    private enum CodingKeys: String, CodingKey { case deliveries }

    func encode(to encoder: any Encoder) throws {
        try WebhookDocument(webhook, newSecret: newSecret).encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(deliveries, forKey: .deliveries)
    }

    /// The webhook as one line of text.
    var line: String {
        [
            webhook.id.rawValue, webhook.failures > 0 && webhook.state == .active ? "retrying" : webhook.state.rawValue,
            webhook.url.rawValue, "\(DisplayName(webhook.label))",
        ].joined(separator: "  ")
    }

    private var types: String {
        switch EventType.Choice(of: webhook) {
        case .all: "all"
        case .usual: "all but \(WebhookTypeOptions.omitted)"
        case .named(let names): names.joined(separator: " ")
        }
    }

    private var words: String {
        var lines = [
            "\(DisplayName(webhook.label))", "  id: \(webhook.id)", "  url: \(webhook.url)",
            "  types: \(types)",
            "  state: \(webhook.state.rawValue)",
        ]
        if let newSecret { lines.append("  secret: \(newSecret.exposed)") }
        if let former = webhook.formerSecret { lines.append("  former secret until: \(Moment.text(former.until))") }
        if let since = webhook.failingSince {
            lines.append("  failing since: \(Moment.text(since)), attempts: \(webhook.failures)")
        }
        if let nextAttempt = webhook.nextAttempt { lines.append("  next attempt: \(Moment.text(nextAttempt))") }
        if webhook.missedThrough != nil {
            lines.append("  missed: events were deleted from the audit log before the receiver got them")
        }
        lines += (deliveries ?? []).map { "  " + $0.line }
        return lines.joined(separator: "\n")
    }

    /// Prints the webhook, and a note about its new secret if it has one.
    func print(json: Bool) throws {
        if json { return try Output.json(self) }
        Output.line(words)
        if newSecret != nil {
            Output.note("The secret is shown only once. Store it where only the receiver can read it.")
        }
    }
}

extension WebhookDeliveryDocument {
    /// The attempt as one line of text.
    fileprivate var line: String {
        let result: String = status.map(String.init) ?? failure ?? ""
        return ([time, event, type, result, "\(milliseconds) ms"] + (resend ? ["sent again"] : []))
            .joined(separator: "  ")
    }
}
