package import CounterfoilServer

/// The audit log, newest events first, with a filter form.
package struct AuditPage: ConsolePage, Hashable {
    package static let template = "audit"

    package var console: ConsoleHead
    package var paths: AdministrationPaths
    package var problems: [FormProblem] = []
    /// The field `kind`: the kind of the events.
    package var kind: FormChoices
    /// The field `outcome`: the outcome of the events.
    package var outcome: FormChoices
    /// The field `person`: a username.
    package var user: FormField
    /// The field `client`: a `client_id`.
    package var client: FormField
    /// The field `source`: an IP address.
    package var source: FormField
    /// The field `request`: the reference of a request, as error pages show it.
    package var request: FormField
    /// The field `since`: the earliest time, in the time zone of ``zone``.
    package var since: FormField
    /// The field `until`: the time before which the events are, in the time zone of ``zone``.
    package var until: FormField
    /// The field `zone`: the name of a time zone; the script fills in that of the browser.
    package var zone: FormField
    /// Whether the script loads the page again in the time zone of the browser; a POST cannot be repeated, and its
    /// answer would be lost.
    package var asksForZone = false
    /// The path that the form sends a GET request to.
    package var action: String
    /// Whether the filter form is shown, because a field has a value.
    package var isFiltered: Bool
    /// The time zone of all times, in words.
    package var times: String
    package var rows: [Row]
    /// The URL of the page with older events; nil if there are none.
    package var older: String?
    /// Up to which time events were examined, if none of them matches and older ones remain; nil otherwise.
    package var searched: String?
    /// The form that exports the events of the filter; nil for a filter that is not understood.
    package var export: Export?

    package struct Export: Sendable, Hashable {
        package var ticket: String
        /// The filter as a query string, in the field `filter`.
        package var filter: String
        package var about: String
    }

    package struct Row: Sendable, Hashable {
        /// The number of the event in the log.
        package var number: Int
        /// The time in the time zone of the page.
        package var time: String
        /// The time in UTC, as in an export.
        package var universalTime: String
        /// The kind of the event, in words.
        package var what: String
        package var outcome: String
        package var isRefused: Bool
        /// The username, or the identifier if the user does not exist; nil if the event concerns no user.
        package var user: DisplayName?
        /// The name of the client; nil if the event concerns none or the client was deleted.
        package var client: DisplayName?
        package var clientID: String?
        package var source: String
        /// The reason of a refusal (``AuditEvent/Reason``); nil for an event without one.
        package var reason: String?
        /// The detail of the event, in English.
        package var detail: String?
        /// The reference that the page of a refused request has shown; nil for any other event.
        package var request: String?
    }
}

/// The paths of the administration pages that the user may see, with the current one marked; the others are nil.
package struct AdministrationPaths: Sendable, Hashable {
    /// The path of the first page.
    package let overview: String?
    /// The path of the list of all clients.
    package let clients: String?
    /// The path of the search for users.
    package let users: String?
    package let unregistered: String?
    package let scopes: String?
    package let apis: String?
    package let webhooks: String?
    package let branding: String?
    /// The path of the mails; nil also if no mail is set up.
    package let mail: String?
    package let audit: String?
    /// The path of the state of the server.
    package let server: String?
    package let isAtOverview: Bool
    package let isAtClients: Bool
    package let isAtUsers: Bool
    package let isAtUnregistered: Bool
    package let isAtScopes: Bool
    package let isAtAPIs: Bool
    package let isAtWebhooks: Bool
    package let isAtBranding: Bool
    package let isAtMail: Bool
    package let isAtAudit: Bool
    package let isAtServer: Bool

    init(_ console: Console, _ exchange: Console.Exchange, at endpoint: Endpoint) {
        overview = console.path(.overview, for: exchange)
        clients = console.path(.administration, for: exchange)
        users = console.path(.users, for: exchange)
        unregistered = console.path(.unregisteredClients, for: exchange)
        scopes = console.path(.scopes, for: exchange)
        apis = console.path(.apis, for: exchange)
        webhooks = console.path(.webhooks, for: exchange)
        branding = console.path(.branding, for: exchange)
        mail = console.mails.flatMap { _ in console.path(.mailPreview, for: exchange) }
        audit = console.path(.audit, for: exchange)
        server = console.path(.server, for: exchange)
        isAtOverview = endpoint == .overview
        isAtClients = endpoint == .administration
        isAtUsers = endpoint == .users
        isAtUnregistered = endpoint == .unregisteredClients
        isAtScopes = endpoint == .scopes
        isAtAPIs = endpoint == .apis
        isAtWebhooks = endpoint == .webhooks
        isAtBranding = endpoint == .branding
        isAtMail = endpoint == .mailPreview
        isAtAudit = endpoint == .audit
        isAtServer = endpoint == .server
    }
}

extension Console {
    /// Returns the path of an endpoint, preceded by the path of the issuer; nil if the user may not see its page.
    func path(_ endpoint: Endpoint, for exchange: Exchange) -> String? {
        endpoint.audience.admission(of: exchange.user, changing: false) == .admitted ? path(endpoint) : nil
    }
}
