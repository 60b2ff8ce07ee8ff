@_spi(Counterfoil) public import CounterfoilProtocol
public import Foundation

/// The identifier of a webhook.
public struct WebhookIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// `wh_` and 32 hexadecimal digits.
    public let rawValue: String

    private static let prefix = "wh_"
    private static let digits = Set("0123456789abcdef".utf8)

    /// Parses an identifier; nil if malformed.
    public init?(_ rawValue: String) {
        guard rawValue.hasPrefix(Self.prefix) else { return nil }
        let rest = rawValue.utf8.dropFirst(Self.prefix.utf8.count)
        guard rest.count == 32, rest.allSatisfy(Self.digits.contains) else { return nil }
        self.rawValue = rawValue
    }

    /// Creates a random identifier of 128 bits.
    public init(random: RandomBytes = RandomBytes()) {
        rawValue =
            Self.prefix + random.bytes(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The same text as ``rawValue``.
    public var description: String { rawValue }
}

/// A subscription to the events of the audit log, which a server posts to a URL one after the other.
///
/// The events are those with a seal, in the order of their seals (``AuditSeal/number``). Seals are made after the
/// commits of their events, so nothing is ever inserted before ``cursor``.
public struct Webhook: Sendable, Hashable {
    /// The maximum number of webhooks.
    public static let limit = 50
    /// The maximum number of deliveries that are kept for each webhook.
    public static let deliveryLimit = 200
    /// The maximum number of events of one webhook that wait to be sent again.
    public static let resendLimit = 50
    /// The time in seconds for which the encrypted identifier of a deleted user is kept, if there are webhooks: a week.
    ///
    /// An event of that user that is sent later has the pseudonym.
    package static let removedSubjectLifetime: TimeInterval = 7 * 86_400

    /// The state of a webhook; the raw value is its name in the store.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Events are sent.
        case active
        /// An administrator has paused the webhook, or its store was restored from a copy.
        case paused
        /// The receiver has answered with status 410, so nothing is sent any more.
        case gone
        /// The receiver has failed for too long, so nothing is sent any more.
        case failing
    }

    /// The secret before the last rotation, which still signs for a while.
    public struct FormerSecret: Sendable, Hashable {
        /// The secret, encrypted with the server key.
        public let sealed: [UInt8]
        /// The time after which only the current secret signs.
        public let until: Date

        /// Creates a former secret.
        public init(sealed: [UInt8], until: Date) {
            self.sealed = sealed
            self.until = until
        }
    }

    /// The identifier.
    public let id: WebhookIdentifier
    /// The URL to which events are posted.
    public var url: AbsoluteURI
    /// A text by which administrators know the receiver.
    public var label: String
    /// The names of the event types that are sent; empty for all but the refusals that strangers can cause without
    /// limit.
    public var types: [String]
    /// The secret that signs, encrypted with the server key.
    public var sealedSecret: [UInt8]
    /// The former secret; nil if there is none.
    public var formerSecret: FormerSecret?
    /// The state.
    public var state: State
    /// The time of the creation.
    public let createdAt: Date
    /// The number of the changes, by which two of them at the same time are recognized.
    public var revision: Int

    /// The number of the seal of the last event that the receiver has accepted, or that is not sent to it.
    public var cursor: Int
    /// The number of failed attempts to send the event after ``cursor``.
    public var failures: Int
    /// The time of the first of ``failures``; nil if there is none.
    public var failingSince: Date?
    /// The time of the next attempt.
    public var dueAt: Date
    /// The number of the seal up to which events were deleted before the receiver got them; nil if none was.
    public var missedThrough: Int?

    /// Creates a webhook.
    public init(
        id: WebhookIdentifier = WebhookIdentifier(), url: AbsoluteURI, label: String, types: [String],
        sealedSecret: [UInt8], formerSecret: FormerSecret? = nil, state: State = .active, createdAt: Date,
        revision: Int = 1, cursor: Int, failures: Int = 0, failingSince: Date? = nil, dueAt: Date? = nil,
        missedThrough: Int? = nil
    ) {
        self.id = id
        self.url = url
        self.label = label
        self.types = types
        self.sealedSecret = sealedSecret
        self.formerSecret = formerSecret
        self.state = state
        self.createdAt = createdAt
        self.revision = revision
        self.cursor = cursor
        self.failures = failures
        self.failingSince = failingSince
        self.dueAt = dueAt ?? createdAt
        self.missedThrough = missedThrough
    }
}

/// An attempt to send an event to a webhook.
public struct WebhookAttempt: Sendable, Hashable {
    /// The number of the seal of the event.
    public let seal: Int
    /// The identifier of the event, `webhook-id`.
    public let eventID: String
    /// The name of the type of the event.
    public let type: String
    /// The time of the attempt.
    public let at: Date
    /// The duration in milliseconds.
    public let milliseconds: Int
    /// The status of the response; nil if there was none.
    public let status: Int?
    /// The reason of a failure without a response; nil for a response.
    public let failure: String?
    /// Whether an administrator asked for it, so that the receiver may have the event already.
    public let isResend: Bool

    /// Whether the receiver has accepted the event.
    public var isDelivered: Bool { status.map { (200..<300).contains($0) } ?? false }

    /// Creates a record of an attempt.
    public init(
        seal: Int, eventID: String, type: String, at: Date, milliseconds: Int, status: Int?, failure: String?,
        isResend: Bool = false
    ) {
        self.seal = seal
        self.eventID = eventID
        self.type = type
        self.at = at
        self.milliseconds = milliseconds
        self.status = status
        self.failure = failure
        self.isResend = isResend
    }
}

/// An attempt as a store keeps it, with its number.
public struct WebhookDelivery: Sendable, Hashable {
    /// The number, which no other attempt has.
    public let number: Int
    /// The attempt.
    public let attempt: WebhookAttempt

    /// Creates a record that a store has read.
    public init(number: Int, attempt: WebhookAttempt) {
        self.number = number
        self.attempt = attempt
    }
}

/// A webhook that a server has taken, and to which no other server sends until the lease ends.
public struct TakenWebhook: Sendable, Hashable {
    /// The webhook.
    public let webhook: Webhook
    /// The events that administrators want sent again, by the numbers of their seals.
    public let resends: [Int]

    /// Creates a record of a webhook that was taken.
    public init(_ webhook: Webhook, resends: [Int]) {
        self.webhook = webhook
        self.resends = resends
    }
}

/// The outcome for the event after the cursor of a webhook, or for one that is sent again.
public enum WebhookSettlement: Sendable, Hashable {
    /// The receiver has accepted the event, or no event up to `cursor` is for it; then there is no attempt.
    case passed(from: Int, to: Int, WebhookAttempt?)
    /// Events up to a seal were deleted before the receiver got them; the cursor stays.
    case missed(through: Int)
    /// The attempt failed, and the next one follows at `retryAt`.
    case failed(WebhookAttempt, retryAt: Date)
    /// The attempt failed, and the server sends nothing any more; the event of that is appended to the audit log.
    case disabled(Webhook.State, WebhookAttempt, AuditEvent)
    /// The event was sent again, with or without success.
    case resent(WebhookAttempt)
}

/// The outcome of ``WebhookStore/addWebhook(_:recording:)``.
public enum AddWebhookOutcome: Sendable, Hashable {
    /// The webhook was added.
    case added
    /// There are ``Webhook/limit`` webhooks; nothing was written.
    case tooMany
}

/// The outcome of ``WebhookStore/updateWebhook(_:from:at:recording:)``.
public enum UpdateWebhookOutcome: Sendable, Hashable {
    /// The webhook was changed.
    case updated
    /// The webhook has another revision than the one that was read; nothing was written.
    case changedMeanwhile
    /// There is no such webhook.
    case notFound
}

/// The outcome of ``WebhookStore/resendEvent(_:to:recording:)``.
public enum ResendEventOutcome: Sendable, Hashable {
    /// The event is queued.
    case queued
    /// There is no such webhook.
    case notFound
    /// ``Webhook/resendLimit`` events wait to be sent again; nothing was written.
    case queueFull
}

/// The progress of the webhooks, for metrics and for the retention of the audit log.
public struct WebhookProgress: Sendable, Hashable {
    /// The number of webhooks in each state; a state without one is missing.
    public let states: [Webhook.State: Int]
    /// The time of the oldest event that an active webhook has not got; nil if there is none.
    public let oldest: Date?
    /// As ``oldest``, of the active and the paused webhooks.
    public let oldestHeld: Date?
    /// The time since which the first of the active webhooks fails; nil if none does.
    public let failingSince: Date?

    /// Creates a record.
    public init(states: [Webhook.State: Int], oldest: Date?, oldestHeld: Date?, failingSince: Date?) {
        self.states = states
        self.oldest = oldest
        self.oldestHeld = oldestHeld
        self.failingSince = failingSince
    }
}
