import CounterfoilServer

/// The pages about an application, seen from one of them.
package struct ApplicationPaths: Sendable, Hashable {
    /// The pages.
    package enum Part: Sendable, Hashable, CaseIterable {
        /// What is registered.
        case overview
        /// The form that changes it.
        case edit
        /// How to connect it.
        case connect
        /// Its picture.
        case logo
        /// Its secrets.
        case secrets
        /// Whether foreign hosts name it.
        case association
        /// Its policy.
        case policy
    }

    /// What is registered.
    package var overview: String
    /// The form that changes it.
    package var edit: String
    /// How to connect it.
    package var connect: String
    /// Its picture.
    package var logo: String
    /// Its secrets; nil for an application that has none.
    package var secrets: String?
    /// Whether foreign hosts name it; nil for an application that claims nothing.
    package var association: String?
    /// Its policy; nil for who is no administrator.
    package var policy: String?
    /// Its end.
    package var delete: String
    /// The list in which it stands for who looks.
    package var list: String
    /// Whether that list is their own; otherwise it is the administration.
    package var isOwn: Bool

    /// Whether this is the page of what is registered; templates cannot compare.
    package let isAtOverview: Bool
    /// Whether this is the form that changes it.
    package let isAtEdit: Bool
    /// Whether this is how to connect it.
    package let isAtConnect: Bool
    /// Whether this is its picture.
    package let isAtLogo: Bool
    /// Whether these are its secrets.
    package let isAtSecrets: Bool
    /// Whether this is what foreign hosts say.
    package let isAtAssociation: Bool
    /// Whether this is its policy.
    package let isAtPolicy: Bool

    /// Makes addresses, seen from a page; nil for one that has no place among them.
    package init(
        at part: Part?, overview: String, edit: String, connect: String, logo: String, secrets: String? = nil,
        association: String? = nil, policy: String? = nil, delete: String, list: String, isOwn: Bool
    ) {
        self.overview = overview
        self.edit = edit
        self.connect = connect
        self.logo = logo
        self.secrets = secrets
        self.association = association
        self.policy = policy
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
    }
}
