package import CounterfoilServer

/// The page on which administrators approve, suspend and resume a client.
package struct ClientDecisionPage: ConsolePage, Hashable {
    package static let template = "decision"

    /// The button of a form on the page, the form field `decision`.
    package enum Decision: String, Sendable, Hashable, CaseIterable {
        case approve
        case suspend
        case resume
    }

    /// The properties of a client that an administrator looks at before an approval.
    package struct Approvable: Sendable, Hashable {
        package struct Permission: Sendable, Hashable {
            package var scope: String
            /// Whether the client gets it only with the approval.
            package var isReserved: Bool

            package init(scope: String, isReserved: Bool = false) {
                self.scope = scope
                self.isReserved = isReserved
            }
        }

        package var publisher: DisplayName?
        package var redirectURIs: [String]
        package var permissions: [Permission]

        package init(publisher: DisplayName? = nil, redirectURIs: [String], permissions: [Permission]) {
            self.publisher = publisher
            self.redirectURIs = redirectURIs
            self.permissions = permissions
        }
    }

    package var console: ConsoleHead
    /// The confirmation of the last action; nil if there is none.
    package var notice: String?
    package var problems: [FormProblem] = []
    package var client: ClientSummary
    /// The paths of the pages about the client; nil for an unregistered one.
    package var paths: ClientPaths?
    /// The path of the page about the client.
    package var backPath: String
    /// The approval of the client, in one or two sentences; nil for a client with a document, which needs none.
    package var approval: String?
    /// What an approval is for; nil for a client that cannot be approved, or is approved already.
    package var approvable: Approvable?
    /// The number of users, in words; nil for a service.
    package var users: String?
    /// The time and the reason of the suspension, in two sentences; nil if the client is not suspended.
    package var suspension: String?
    /// The reason of a new suspension.
    package var reason: FormField
    /// The path that the forms post to.
    package var action: String
    /// The anti-CSRF token of the forms.
    package var ticket: String
    /// The revision of the client on the page; the approval fails if the client has changed since.
    package var revision: Int

    /// Whether the form with this button has the field for the password; there is a flag for each, because templates
    /// cannot compare values.
    package let confirmsApproval: Bool
    package let confirmsSuspension: Bool
    package let confirmsResumption: Bool

    /// Creates the page; `submitted` is the button of the form that is shown again, or nil for a new page.
    package init(
        console: ConsoleHead, notice: String? = nil, problems: [FormProblem] = [], client: ClientSummary,
        paths: ClientPaths? = nil, backPath: String, approval: String?, approvable: Approvable? = nil,
        users: String? = nil,
        suspension: String? = nil, reason: FormField = FormField("reason"), submitted: Decision? = nil, action: String,
        ticket: String,
        revision: Int
    ) {
        self.console = console
        self.notice = notice
        self.problems = problems
        self.client = client
        self.paths = paths
        self.backPath = backPath
        self.approval = approval
        self.approvable = approvable
        self.users = users
        self.suspension = suspension
        self.reason = reason
        self.action = action
        self.ticket = ticket
        self.revision = revision
        confirmsApproval = submitted == .approve
        confirmsSuspension = submitted == .suspend
        confirmsResumption = submitted == .resume
    }
}
