import CounterfoilProtocol
import CounterfoilServer
import CounterfoilStore
import Foundation

/// A webhook in the output of commands.
struct WebhookDocument: Encodable {
    private let webhook: Webhook
    private let newSecret: WebhookSecret?
    private let deliveries: [WebhookDelivery]?

    init(_ webhook: Webhook, newSecret: WebhookSecret? = nil, deliveries: [WebhookDelivery]? = nil) {
        self.webhook = webhook
        self.newSecret = newSecret
        self.deliveries = deliveries
    }

    private enum CodingKeys: String, CodingKey {
        case id, url, label, types, state, secret, cursor, failures, deliveries
        case failingSince = "failing_since"
        case nextAttempt = "next_attempt"
        case missedThrough = "missed_through"
        case formerSecretUntil = "former_secret_until"
        case createdAt = "created_at"
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(webhook.id.rawValue, forKey: .id)
        try values.encode(webhook.url.rawValue, forKey: .url)
        try values.encode(webhook.label, forKey: .label)
        try values.encode(webhook.types, forKey: .types)
        try values.encode(webhook.state.rawValue, forKey: .state)
        try values.encodeIfPresent(newSecret?.exposed, forKey: .secret)
        try values.encodeIfPresent(webhook.formerSecret.map { Moment.text($0.until) }, forKey: .formerSecretUntil)
        try values.encode(webhook.cursor, forKey: .cursor)
        try values.encode(webhook.failures, forKey: .failures)
        try values.encodeIfPresent(webhook.failingSince.map(Moment.text), forKey: .failingSince)
        try values.encodeIfPresent(nextAttempt.map(Moment.text), forKey: .nextAttempt)
        try values.encodeIfPresent(webhook.missedThrough, forKey: .missedThrough)
        try values.encode(Moment.text(webhook.createdAt), forKey: .createdAt)
        try values.encodeIfPresent(deliveries?.map { Delivery($0) }, forKey: .deliveries)
    }

    /// The time of the next attempt to send an event that failed; nil if none failed.
    private var nextAttempt: Date? { webhook.failures > 0 && webhook.state == .active ? webhook.dueAt : nil }

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
        if let nextAttempt { lines.append("  next attempt: \(Moment.text(nextAttempt))") }
        if webhook.missedThrough != nil {
            lines.append("  missed: events were deleted from the audit log before the receiver got them")
        }
        lines += (deliveries ?? []).map { "  " + Delivery($0).line }
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

    private struct Delivery: Encodable {
        let time: String
        let event: String
        let type: String
        let status: Int?
        let failure: String?
        let milliseconds: Int
        let resend: Bool

        init(_ delivery: WebhookDelivery) {
            let attempt = delivery.attempt
            time = Moment.text(attempt.at)
            event = attempt.eventID
            type = attempt.type
            status = attempt.status
            failure = attempt.failure
            milliseconds = attempt.milliseconds
            resend = attempt.isResend
        }

        var line: String {
            let result: String = status.map(String.init) ?? failure ?? ""
            return ([time, event, type, result, "\(milliseconds) ms"] + (resend ? ["sent again"] : []))
                .joined(separator: "  ")
        }
    }
}
