import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// A webhook in answers of the administration API, and in the output of commands.
package struct WebhookDocument: AdministrationDocument {
    typealias Member = CodingKeys

    private let webhook: Webhook
    private let newSecret: WebhookSecret?

    package init(_ webhook: Webhook, newSecret: WebhookSecret? = nil) {
        self.webhook = webhook
        self.newSecret = newSecret
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, url, label, types, state, secret, cursor, failures
        case failingSince = "failing_since"
        case nextAttempt = "next_attempt"
        case missedThrough = "missed_through"
        case formerSecretUntil = "former_secret_until"
        case createdAt = "created_at"
    }

    package func encode(to encoder: any Encoder) throws {
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
        try values.encodeIfPresent(webhook.failingSince.map { Moment.text($0) }, forKey: .failingSince)
        try values.encodeIfPresent(webhook.nextAttempt.map { Moment.text($0) }, forKey: .nextAttempt)
        try values.encodeIfPresent(webhook.missedThrough, forKey: .missedThrough)
        try values.encode(Moment.text(webhook.createdAt), forKey: .createdAt)
    }

    /// The version of a webhook, which a delivery does not change.
    static func version(of webhook: Webhook) throws -> EntityTag {
        try EntityTag(of: [webhook.id.rawValue, "\(webhook.revision)"])
    }
}

extension Webhook {
    /// The time of the next attempt to send an event that failed; nil if none failed.
    package var nextAttempt: Date? { failures > 0 && state == .active ? dueAt : nil }
}

/// An attempt to send an event, in answers of the administration API and in the output of commands.
package struct WebhookDeliveryDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case time, event, type, status, failure, milliseconds, resend
    }

    package let time: String
    package let event: String
    package let type: String
    package let status: Int?
    package let failure: String?
    package let milliseconds: Int
    package let resend: Bool

    package init(_ delivery: WebhookDelivery) {
        let attempt = delivery.attempt
        time = Moment.text(attempt.at)
        event = attempt.eventID
        type = attempt.type
        status = attempt.status
        failure = attempt.failure
        milliseconds = attempt.milliseconds
        resend = attempt.isResend
    }
}

/// A new secret of a webhook, which is shown once.
struct WebhookSecretDocument: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable { case id, secret }

    let id: String
    let secret: String
}
