/// What a person has allowed, and the way to the rest of the account.
public struct AccountPage: Sendable, Hashable {
    /// The head of the page.
    public var console: ConsoleHead
    /// What has just happened, in one sentence.
    public var notice: String?
    /// Whose account it is.
    public var person: AccountHolder
    /// Where the pages of the account lie.
    public var paths: AccountPaths
    /// What the person has allowed, last allowed first.
    public var applications: [ConnectedApplication]

    /// Makes the page.
    public init(
        console: ConsoleHead, notice: String? = nil, person: AccountHolder,
        paths: AccountPaths = AccountPaths(at: .applications), applications: [ConnectedApplication]
    ) {
        self.console = console
        self.notice = notice
        self.person = person
        self.paths = paths
        self.applications = applications
    }
}

/// The person whose account it is, as only that person sees it: nothing is masked.
public struct AccountHolder: Sendable, Hashable {
    /// The name.
    public var name: DisplayName
    /// What stands in the place of a picture.
    public var initials: String
    /// The user name.
    public var username: String
    /// The e-mail address, whole.
    public var email: String?

    /// Makes the person.
    public init(name: DisplayName, username: String, email: String? = nil) {
        self.name = name
        initials = name.initials
        self.username = username
        self.email = email
    }
}

/// The pages of the account: where they lie, and which of them it is.
public struct AccountPaths: Sendable, Hashable {
    /// The pages.
    public enum Part: Sendable, Hashable, CaseIterable {
        /// The connected applications.
        case applications
        /// The browsers that are signed in.
        case sessions
        /// The password.
        case password
    }

    /// Of the connected applications.
    public var account: String
    /// Of the browsers that are signed in.
    public var sessions: String
    /// Of the password.
    public var password: String
    /// Whether it is that of the connected applications.
    public var isAtApplications: Bool
    /// Whether it is that of the browsers.
    public var isAtSessions: Bool
    /// Whether it is that of the password.
    public var isAtPassword: Bool

    /// Makes addresses.
    public init(
        at part: Part, account: String = "/account", sessions: String = "/account/sessions",
        password: String = "/account/password"
    ) {
        self.account = account
        self.sessions = sessions
        self.password = password
        isAtApplications = part == .applications
        isAtSessions = part == .sessions
        isAtPassword = part == .password
    }
}

/// An application that a person has allowed, as lists and headings show it.
public struct ConnectedApplication: Sendable, Hashable {
    /// Its name.
    public var name: DisplayName
    /// What stands in the place of its logo where it has none.
    public var initials: String
    /// The path of its logo.
    public var logo: String?
    /// Who publishes it.
    public var publisher: DisplayName?
    /// Whether it belongs to the service itself.
    public var isFirstParty: Bool
    /// Whether somebody who runs the service knows who publishes it.
    public var isVouchedFor: Bool
    /// What it may do, in words.
    public var permissions: [String]
    /// Since when.
    public var since: String
    /// When it last got a token; nil while it never did.
    public var lastUsed: String?
    /// The path of its page.
    public var path: String

    /// Makes an application.
    public init(
        name: DisplayName, logo: String? = nil, publisher: DisplayName? = nil, isFirstParty: Bool = false,
        isVouchedFor: Bool = false, permissions: [String], since: String, lastUsed: String? = nil, path: String
    ) {
        self.name = name
        initials = name.initials
        self.logo = logo
        self.publisher = publisher
        self.isFirstParty = isFirstParty
        self.isVouchedFor = isVouchedFor
        self.permissions = permissions
        self.since = since
        self.lastUsed = lastUsed
        self.path = path
    }
}
