package import CounterfoilServer

/// What happened, for administrators: the newest first, and a form that asks for some of it.
package struct AuditPage: ConsolePage, Hashable {
    package static let template = "audit"

    /// The head of the page.
    package var console: ConsoleHead
    /// The pages of the administration.
    package var paths: AdministrationPaths
    /// What is wrong with what was asked for.
    package var problems: [FormProblem] = []
    /// Which kind of event; `kind`.
    package var kind: FormChoices
    /// Whom it concerns, by user name; `person`.
    package var person: FormField
    /// Which application, by `client_id`; `client`.
    package var client: FormField
    /// From which day on; `since`.
    package var since: FormField
    /// Where the form goes, with GET.
    package var action: String
    /// The events.
    package var rows: [Row]
    /// Where those before them are; nil when these are the oldest.
    package var older: String?

    /// One event.
    package struct Row: Sendable, Hashable {
        /// When, in UTC.
        package var time: String
        /// What.
        package var what: String
        /// How it ended.
        package var outcome: String
        /// Whether it was refused.
        package var isRefused: Bool
        /// Who; nil when nobody is known.
        package var person: DisplayName?
        /// Which application; nil when none is concerned, or it is gone.
        package var application: DisplayName?
        /// The identifier of the application.
        package var clientID: String?
        /// Where it came from.
        package var source: String
        /// What more there is to say, in English.
        package var detail: String?
    }
}

/// The pages of the administration, seen from one of them.
package struct AdministrationPaths: Sendable, Hashable {
    /// Every application.
    package let applications: String
    /// The look of the pages.
    package let branding: String
    /// What happened.
    package let audit: String
    /// Whether this is the page of every application.
    package let isAtApplications: Bool
    /// Whether this is the look of the pages.
    package let isAtBranding: Bool
    /// Whether this is what happened.
    package let isAtAudit: Bool

    init(_ console: Console, at endpoint: Endpoint) {
        applications = console.path(.administration)
        branding = console.path(.branding)
        audit = console.path(.audit)
        isAtApplications = endpoint == .administration
        isAtBranding = endpoint == .branding
        isAtAudit = endpoint == .audit
    }
}
