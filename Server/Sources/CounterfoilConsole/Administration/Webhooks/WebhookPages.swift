package import CounterfoilServer
import CounterfoilStore

/// The list of the webhooks, for administrators.
package struct WebhooksPage: ConsolePage, Hashable {
    package static let template = "webhooks"

    package struct Row: Sendable, Hashable {
        package var label: DisplayName
        package var url: String
        package var types: WebhookTypes
        package var state: WebhookStateBadge
        package var path: String
    }

    package var console: ConsoleHead
    package var paths: AdministrationPaths
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var newPath: String
    package var rows: [Row]
}

/// The event types of a webhook.
package struct WebhookTypes: Sendable, Hashable {
    /// The names delimited by spaces; nil for all, or those by default.
    package var names: String?
    /// Whether these are all types.
    package var isAll: Bool

    init(of webhook: Webhook) {
        switch EventType.Choice(of: webhook.types) {
        case .all: (names, isAll) = (nil, true)
        case .usual: (names, isAll) = (nil, false)
        case .named(let types): (names, isAll) = (types.joined(separator: " "), false)
        }
    }
}

/// The state of a webhook, in words.
package struct WebhookStateBadge: Sendable, Hashable {
    package var name: String
    /// Whether events are sent without failures.
    package var isGood: Bool
    /// Whether the server sends nothing because of the receiver.
    package var isDisabled: Bool
}

/// A webhook with its last deliveries; a new secret is shown once.
package struct WebhookPage: ConsolePage, Hashable {
    package static let template = "webhook"

    package struct Delivery: Sendable, Hashable {
        /// The number of the delivery, which the form posts.
        package var number: Int
        package var time: String
        /// The time in UTC.
        package var universalTime: String
        package var event: String
        package var type: String
        /// The status of the response, or the reason why there is none.
        package var result: String
        package var isDelivered: Bool
        package var milliseconds: Int
        package var isResend: Bool
        /// Whether the event can be sent again.
        package var canBeResent: Bool
    }

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem] = []
    package var label: DisplayName
    package var url: String
    package var id: String
    package var state: WebhookStateBadge
    package var types: WebhookTypes
    package var created: String
    /// The time since which attempts fail; nil if the last one succeeded.
    package var failingSince: String?
    package var nextAttempt: String?
    /// The end of the former secret; nil if there is none.
    package var formerSecretUntil: String?
    /// Whether events were deleted from the audit log before the receiver got them.
    package var hasMissed: Bool
    /// The secret that was just created, which is never shown again.
    package var newSecret: String?
    package var deliveries: [Delivery]
    /// The URL of the page with earlier deliveries; nil if there are none.
    package var older: String?
    /// Whether the webhook can be paused; if not, it can be resumed.
    package var isActive: Bool
    /// The field `since`, the time of the first event that is sent again.
    package var since: FormField
    package var action: String
    /// The anti-CSRF token of the forms.
    package var ticket: String
    /// The revision of the webhook, which the forms post.
    package var revision: Int
    package var editPath: String
    package var deletePath: String
    package var listPath: String
}

/// The form that creates or changes a webhook.
package struct WebhookFormPage: ConsolePage, Hashable {
    package static let template = "webhook-form"

    package var console: ConsoleHead
    package var problems: [FormProblem]
    /// The label of the webhook; nil for a new one.
    package var webhook: DisplayName?
    package var url: FormField
    package var label: FormField
    package var types: FormChoices
    /// The types that are not sent without a choice, delimited by spaces.
    package var omittedTypes: String
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The revision of the webhook in the form, 0 for a new one.
    package var revision: Int
    package var cancelPath: String
}
