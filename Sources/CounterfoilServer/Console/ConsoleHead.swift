/// The head of every page for somebody who is signed in: who that is, where they are, and the way out.
public struct ConsoleHead: Sendable, Hashable {
    /// The parts of the console.
    public enum Part: Sendable, Hashable, CaseIterable {
        /// My Apps.
        case applications
        /// The account.
        case account
        /// The administration.
        case administration
    }

    /// Who is signed in.
    public var personName: DisplayName
    /// Whether the administration is shown.
    public var isAdministrator: Bool
    /// Whether My Apps is shown; otherwise only administrators register applications.
    public var registersApplications: Bool
    /// Where they are; nil where it is none of the parts.
    public var part: Part?
    /// Where the parts lie.
    public var paths: Paths
    /// The proof of the sign-out button; the hidden field `ticket`.
    public var signOutTicket: String

    /// The addresses of the parts.
    public struct Paths: Sendable, Hashable {
        /// Of My Apps.
        public var applications: String
        /// Of the account.
        public var account: String
        /// Of the administration.
        public var administration: String
        /// To which the sign-out button posts.
        public var signOut: String

        /// Makes addresses.
        public init(
            applications: String = "/apps", account: String = "/account", administration: String = "/admin",
            signOut: String = "/account/sign-out"
        ) {
            self.applications = applications
            self.account = account
            self.administration = administration
            self.signOut = signOut
        }
    }

    /// Makes a head.
    public init(
        personName: DisplayName, isAdministrator: Bool, registersApplications: Bool = true, part: Part?,
        paths: Paths = Paths(), signOutTicket: String
    ) {
        self.personName = personName
        self.isAdministrator = isAdministrator
        self.registersApplications = registersApplications
        self.part = part
        self.paths = paths
        self.signOutTicket = signOutTicket
    }
}
