/// The changes of a webhook in the body of a request.
struct WebhookChange: Sendable {
    private let url: String?
    private let label: String?
    /// The names of the types; empty for those that a new webhook gets by default.
    private let types: [String]?

    /// Reads the members, and notes a problem for each that has another type.
    init<Member: RawRepresentable<String> & CaseIterable & Sendable>(_ members: inout BodyMembers<Member>) {
        url = members.draftText("url")
        label = members.draftText("label")
        if let member = Member(rawValue: "types"), members.has(member) {
            types = members.texts(member, atMost: EventType.allCases.count) ?? []
        } else {
            types = nil
        }
    }

    func write(into draft: inout WebhookDraft) {
        if let url { draft.url = url }
        if let label { draft.label = label }
        if let types { draft.types = types }
    }
}

/// The body with which a webhook is created.
struct NewWebhookBody: AdministrationBody {
    enum Member: String, CaseIterable { case url, label, types }

    let change: WebhookChange

    init?(_ members: inout BodyMembers<Member>) {
        for member in [Member.url, .label] where !members.has(member) { members.refuse(member, "It is required.") }
        change = WebhookChange(&members)
    }
}

/// The body with which a webhook is changed: a JSON Merge Patch (RFC 7396).
struct ChangedWebhookBody: AdministrationBody {
    enum Member: String, CaseIterable { case url, label, types }

    let change: WebhookChange

    init?(_ members: inout BodyMembers<Member>) { change = WebhookChange(&members) }
}

/// The body with which the secret of a webhook is replaced.
struct WebhookSecretBody: AdministrationBody {
    enum Member: String, CaseIterable { case overlapHours = "overlap_hours" }

    /// The hours for which the former secret still signs.
    let overlapHours: Int

    init?(_ members: inout BodyMembers<Member>) {
        overlapHours =
            members.integer(.overlapHours, WebhookAdministration.overlaps) ?? WebhookAdministration.overlapHours
    }
}

/// The body with which a webhook continues with the events since a time.
struct WebhookReplayBody: AdministrationBody {
    enum Member: String, CaseIterable { case since }

    let since: String

    init?(_ members: inout BodyMembers<Member>) {
        guard let since = members.required(.since, rule: "", { $0 }) else { return nil }
        self.since = since
    }
}

/// The body with which an event of a delivery is sent again.
struct WebhookResendBody: AdministrationBody {
    enum Member: String, CaseIterable { case event }

    let event: String

    init?(_ members: inout BodyMembers<Member>) {
        // A delivery of an event that was deleted has no identifier.
        let event = members.required(.event, rule: "It must be the identifier of an event, such as evt_….") {
            $0.hasPrefix("evt_") ? $0 : nil
        }
        guard let event else { return nil }
        self.event = event
    }
}
