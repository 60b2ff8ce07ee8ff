import CounterfoilServer
import CounterfoilStore
import Foundation
import HTTPListener

/// Metrics in the text format of Prometheus, version 0.0.4.
///
/// No label value comes from a client, so the number of time series is bounded.
struct MetricsText {
    private(set) var text = ""

    /// Writes the counters of requests, issued tokens, audit events and other events in this process.
    mutating func write(_ counts: ServerMetrics.Snapshot) {
        let requests = counts.requests.map { (name: $0.key.map { "\($0)" } ?? "none", requests: $0.value) }
            .sorted { $0.name < $1.name }
        family("counterfoil_http_requests_total", .counter, "Requests by endpoint and status class.")
        for (name, requests) in requests {
            for (status, count) in requests.byStatusClass.sorted(by: { $0.key < $1.key }) {
                sample("counterfoil_http_requests_total", [("endpoint", name), ("status", "\(status)xx")], count)
            }
        }
        family("counterfoil_http_request_duration_seconds", .histogram, "Request duration.")
        for (name, requests) in requests {
            sample("counterfoil_http_request_duration_seconds", [("endpoint", name)], requests.durations)
        }
        family("counterfoil_throttled_requests_total", .counter, "Responses with status 429.")
        for (name, requests) in requests {
            sample("counterfoil_throttled_requests_total", [("endpoint", name)], requests.throttled)
        }
        family("counterfoil_tokens_issued_total", .counter, "Token responses by grant type.")
        for (grant, count) in counts.tokens.sorted(by: { $0.key < $1.key }) {
            sample("counterfoil_tokens_issued_total", [("grant", grant)], count)
        }
        family("counterfoil_audit_events_total", .counter, "Audit events by kind and outcome.")
        for kind in AuditEvent.Kind.allCases {
            for outcome in AuditEvent.Outcome.allCases {
                sample(
                    "counterfoil_audit_events_total", [("kind", kind.rawValue), ("outcome", outcome.rawValue)],
                    counts.audited[ServerMetrics.AuditedEvent(kind: kind, outcome: outcome)] ?? 0)
            }
        }
        family(
            "counterfoil_audit_events_left_out_total", .counter,
            "Refusals that were not recorded in the audit log because they exceeded its limit, by kind.")
        for kind in AuditEvent.Kind.allCases where kind.isByStrangers {
            sample(
                "counterfoil_audit_events_left_out_total", [("kind", kind.rawValue)], counts.leftOut[kind] ?? 0)
        }
        single(
            "counterfoil_sign_in_failures_total", "Sign-ins that failed.", counts.failedSignIns)
        for event in ServerMetrics.Event.allCases {
            single("counterfoil_\(event.name)_total", event.help, counts.events[event] ?? 0)
        }
    }

    /// The end of the description of a value that every server on one store shows alike.
    static let ofStore = "Of the store: the same at every server."

    /// Writes the statistics of refresh tokens, which the store counts for all processes that use it.
    mutating func write(_ refreshes: RefreshStatistics) {
        single(
            "counterfoil_refresh_repeats_total",
            "Refreshes that got the same response again, because the first was lost. \(Self.ofStore)",
            refreshes.repeats)
        single(
            "counterfoil_refresh_reuses_total",
            "Token families that were revoked because of reuse. \(Self.ofStore)",
            refreshes.reuses)
        single(
            "counterfoil_grants_revoked_total", "Revoked grants, for any reason. \(Self.ofStore)",
            refreshes.revocations)
    }

    /// Writes the counts of connections and of bytes of request bodies.
    mutating func write(_ connections: OpenConnections.Snapshot, limit: Int) {
        family("counterfoil_connections", .gauge, "Open connections.")
        sample("counterfoil_connections", [], connections.open)
        family("counterfoil_connections_limit", .gauge, "Limit of open connections.")
        sample("counterfoil_connections_limit", [], limit)
        family("counterfoil_connections_refused_total", .counter, "Refused connections by reason.")
        for reason in OpenConnections.Refusal.allCases {
            sample(
                "counterfoil_connections_refused_total", [("reason", reason.rawValue)],
                connections.refused[reason] ?? 0)
        }
        single(
            "counterfoil_connections_evicted_total", "Idle connections that were closed to make room.",
            connections.evicted)
        family("counterfoil_body_bytes", .gauge, "Bytes of request bodies in memory that count against the limit.")
        sample("counterfoil_body_bytes", [], connections.bodyBytes)
        single(
            "counterfoil_bodies_refused_total", "Request bodies refused because of the limit of bytes in memory.",
            connections.refusedBodies)
    }

    /// Writes the number and age of the back-channel logout notifications that are pending in the store.
    mutating func write(logoutBacklog: (count: Int, age: Double)) {
        family(
            "counterfoil_logout_notifications_queued", .gauge,
            "Pending back-channel logout notifications. \(Self.ofStore)")
        sample("counterfoil_logout_notifications_queued", [], logoutBacklog.count)
        family(
            "counterfoil_logout_notification_oldest_seconds", .gauge,
            "Age of the oldest pending back-channel logout notification. \(Self.ofStore)")
        sample("counterfoil_logout_notification_oldest_seconds", [], logoutBacklog.age)
    }

    /// Writes the number and age of the mails that are queued in the store.
    mutating func write(mailBacklog: (count: Int, age: Double)) {
        gauge("counterfoil_mails_queued", "Queued mails. \(Self.ofStore)", mailBacklog.count)
        gauge(
            "counterfoil_mail_oldest_seconds", "Age of the oldest queued mail. \(Self.ofStore)", mailBacklog.age)
    }

    /// Writes the number of webhooks in each state, and the age of the oldest event that an active one has not got.
    mutating func write(webhooks: (states: [Webhook.State: Int], age: Double)) {
        family("counterfoil_webhooks", .gauge, "Webhooks by state. \(Self.ofStore)")
        for state in Webhook.State.allCases {
            sample("counterfoil_webhooks", [("state", state.rawValue)], webhooks.states[state] ?? 0)
        }
        gauge(
            "counterfoil_webhook_event_oldest_seconds",
            "Age of the oldest event that an active webhook has not got. \(Self.ofStore)", webhooks.age)
    }

    /// Writes the time since which events of the audit log may have no seal.
    mutating func write(auditSealAge: Double) {
        gauge(
            "counterfoil_audit_seal_age_seconds",
            "Time since every event of the audit log was sealed. \(Self.ofStore)", auditSealAge)
    }

    /// Writes the failures to write the endings journal, and the time since which it may lack endings.
    mutating func write(endingsJournal journal: (failures: Int, age: Double)) {
        single(
            "counterfoil_endings_journal_failures_total", "Failed attempts to write the endings journal.",
            journal.failures)
        gauge(
            "counterfoil_endings_journal_age_seconds",
            "Time since the endings journal had every ending of the store.", journal.age)
    }

    /// Writes the validity of the certificate for TLS, and the refusals of new ones.
    mutating func write(_ certificate: CurrentCertificate.Snapshot) {
        gauge(
            "counterfoil_tls_certificate_present",
            "1 if a certificate for TLS is in use, 0 while the server has to order it first.",
            certificate.expires == nil ? 0 : 1)
        if let expires = certificate.expires {
            let name = "counterfoil_tls_certificate_expiry_timestamp_seconds"
            family(name, .gauge, "Time at which the certificate for TLS, or that of its issuer, expires.")
            sample(name, [], Int(expires.timeIntervalSince1970))
        }
        if let starts = certificate.starts {
            gauge(
                "counterfoil_tls_certificate_start_timestamp_seconds",
                "Time from which the certificate for TLS is valid.", Int(starts.timeIntervalSince1970))
        }
        gauge(
            "counterfoil_tls_certificate_refused",
            "1 while the newest certificate is refused, so that the former one stays in use.",
            certificate.isRefused ? 1 : 0)
        single(
            "counterfoil_tls_certificate_failures_total",
            "New certificates that were refused, so that the former one stays in use.", certificate.failures)
    }

    /// Writes the numbers of orders of a certificate that have failed.
    mutating func write(_ orders: OrderFailureCounts.Snapshot) {
        single(
            "counterfoil_acme_failures_total",
            "Orders of a certificate that failed, so that the former one stays in use.", orders.total)
        gauge(
            "counterfoil_acme_consecutive_failures",
            "Orders of a certificate that failed since the last one that succeeded. \(Self.ofStore)", orders.inRow)
    }

    /// Writes whether the process stops.
    mutating func write(isReady: Bool, isDraining: Bool) {
        family("counterfoil_ready", .gauge, "1 if /readyz succeeds, because the server can serve sign-ins.")
        sample("counterfoil_ready", [], isReady ? 1 : 0)
        family("counterfoil_draining", .gauge, "1 while the server stops and answers its last requests.")
        sample("counterfoil_draining", [], isDraining ? 1 : 0)
    }

    enum Kind: String {
        case counter, gauge, histogram
    }

    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func single(_ name: String, _ help: String, _ value: Int) {
        family(name, .counter, help)
        sample(name, [], value)
    }

    /// Writes a family with one sample.
    mutating func gauge(_ name: String, _ help: String, _ value: some Numeric) {
        family(name, .gauge, help)
        sample(name, [], value)
    }

    /// Writes the samples of a histogram.
    mutating func sample(_ name: String, _ labels: [(String, String)], _ histogram: Histogram) {
        var total = 0
        for (index, count) in histogram.counts.enumerated() {
            total += count
            let bound = index < histogram.bounds.count ? "\(histogram.bounds[index])" : "+Inf"
            sample(name + "_bucket", labels + [("le", bound)], total)
        }
        sample(name + "_sum", labels, histogram.sum)
        sample(name + "_count", labels, total)
    }

    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: some Numeric) {
        let list = labels.map { "\($0.0)=\"\($0.1)\"" }.joined(separator: ",")
        text += name + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
    }
}

extension ServerMetrics.Event {
    fileprivate var name: String {
        switch self {
        case .auditWriteFailure: "audit_write_failures"
        case .storeError: "store_errors"
        case .rowRemoved: "maintenance_rows_removed"
        case .maintenanceFailure: "maintenance_failures"
        case .settingsFailure: "settings_failures"
        case .logoutDelivered: "logout_notifications_delivered"
        case .logoutFailed: "logout_notification_failures"
        case .logoutGivenUp: "logout_notifications_given_up"
        case .mailSent: "mails_sent"
        case .mailFailed: "mail_failures"
        case .mailGivenUp: "mails_given_up"
        case .webhookDelivered: "webhook_events_delivered"
        case .webhookFailed: "webhook_event_failures"
        case .webhookDisabled: "webhooks_disabled"
        case .webhookEventsMissed: "webhook_events_missed"
        }
    }

    fileprivate var help: String {
        switch self {
        case .auditWriteFailure: "Audit events that could not be written."
        case .storeError: "Requests that failed because of the store, and starts of its outages."
        case .rowRemoved: "Expired rows that were deleted."
        case .maintenanceFailure: "Failed attempts to delete expired rows."
        case .settingsFailure: "New settings that were refused."
        case .logoutDelivered: "Back-channel logout notifications that were delivered."
        case .logoutFailed: "Failed attempts to deliver a back-channel logout notification."
        case .logoutGivenUp: "Back-channel logout notifications that were given up."
        case .mailSent: "Mails that the mail server has accepted."
        case .mailFailed: "Failed attempts to send a mail."
        case .mailGivenUp: "Mails that were given up."
        case .webhookDelivered: "Events that a webhook has accepted."
        case .webhookFailed: "Failed attempts to send an event to a webhook."
        case .webhookDisabled: "Webhooks that the server has disabled."
        case .webhookEventsMissed: "Times at which events were deleted before a webhook got them."
        }
    }
}
