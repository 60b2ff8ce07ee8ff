import CounterfoilServer

/// The paths of the pages about a client, with the current one marked.
package struct ClientPaths: Sendable, Hashable {
    package enum Part: Sendable, Hashable, CaseIterable {
        case overview
        case edit
        case connect
        case logo
        case secrets
        case association
        case policy
        case decision
        case developers
    }

    package var overview: String
    /// The path of the settings; nil unless the user may change the client.
    package var edit: String?
    package var connect: String
    /// The path of the logo; nil unless the user may change the client.
    package var logo: String?
    /// The path of the secrets; nil for a public client.
    package var secrets: String?
    /// The path of the association check; nil for a client without claimed https URIs.
    package var association: String?
    /// The path of the policy; nil unless the user may change every client.
    package var policy: String?
    /// The URL of the sign-ins to the client in the audit log; nil unless the user may read it.
    package var signIns: String?
    /// The path of the page for the approval and the suspension; nil unless the user may see every client.
    package var decision: String?
    /// The path of the users who manage the client; nil unless the user may change the client.
    package var developers: String?
    /// The path of the deletion; nil unless the user owns the client or may change every client.
    package var delete: String?
    /// The path of the list in which this user sees the client.
    package var list: String
    /// Whether `list` is the list of the user's own clients; if false, it is the list of all clients.
    package var isOwn: Bool

    /// Whether the overview is the current page; there is a flag for each page, because templates cannot compare
    /// values.
    package let isAtOverview: Bool
    package let isAtEdit: Bool
    package let isAtConnect: Bool
    package let isAtLogo: Bool
    package let isAtSecrets: Bool
    package let isAtAssociation: Bool
    package let isAtPolicy: Bool
    package let isAtDecision: Bool
    package let isAtDevelopers: Bool

    /// Creates the paths; `part` is the current page, or nil if the current page is none of them.
    package init(
        at part: Part?, overview: String, edit: String?, connect: String, logo: String?, secrets: String? = nil,
        association: String? = nil, policy: String? = nil, signIns: String? = nil, decision: String? = nil,
        developers: String? = nil, delete: String?, list: String,
        isOwn: Bool
    ) {
        self.overview = overview
        self.edit = edit
        self.connect = connect
        self.logo = logo
        self.secrets = secrets
        self.association = association
        self.policy = policy
        self.signIns = signIns
        self.decision = decision
        self.developers = developers
        self.delete = delete
        self.list = list
        self.isOwn = isOwn
        isAtOverview = part == .overview
        isAtEdit = part == .edit
        isAtConnect = part == .connect
        isAtLogo = part == .logo
        isAtSecrets = part == .secrets
        isAtAssociation = part == .association
        isAtPolicy = part == .policy
        isAtDecision = part == .decision
        isAtDevelopers = part == .developers
    }
}
