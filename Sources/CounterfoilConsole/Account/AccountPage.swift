package import CounterfoilServer

/// What a person has allowed, and the way to the rest of the account.
package struct AccountPage: ConsolePage, Hashable {
    package static let template = "account"

    /// The head of the page.
    package var console: ConsoleHead
    /// What has just happened, in one sentence.
    package var notice: String?
    /// Whose account it is.
    package var person: AccountHolder
    /// Where the pages of the account lie.
    package var paths: AccountPaths = AccountPaths(at: .applications)
    /// What the person has allowed, last allowed first.
    package var applications: [ConnectedApplication]
}

/// The person whose account it is, as only that person sees it: nothing is masked.
package struct AccountHolder: Sendable, Hashable {
    /// The name.
    package var name: DisplayName
    /// What stands in the place of a picture.
    package var initials: String
    /// The user name.
    package var username: String
    /// The e-mail address, whole.
    package var email: String?

    /// Makes the person.
    package init(name: DisplayName, username: String, email: String? = nil) {
        self.name = name
        initials = name.initials
        self.username = username
        self.email = email
    }
}

/// The pages of the account: where they lie, and which of them it is.
package struct AccountPaths: Sendable, Hashable {
    /// The pages.
    package enum Part: Sendable, Hashable, CaseIterable {
        /// The connected applications.
        case applications
        /// The browsers that are signed in.
        case sessions
        /// The password.
        case password
    }

    /// Of the connected applications.
    package var account: String
    /// Of the browsers that are signed in.
    package var sessions: String
    /// Of the password.
    package var password: String
    /// Whether it is that of the connected applications.
    package var isAtApplications: Bool
    /// Whether it is that of the browsers.
    package var isAtSessions: Bool
    /// Whether it is that of the password.
    package var isAtPassword: Bool

    /// Makes addresses.
    package init(
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
package struct ConnectedApplication: Sendable, Hashable {
    /// Its name.
    package var name: DisplayName
    /// What stands in the place of its logo where it has none.
    package var initials: String
    /// The path of its logo.
    package var logo: String?
    /// Who publishes it.
    package var publisher: DisplayName?
    /// Whether it belongs to the service itself.
    package var isFirstParty: Bool
    /// Whether somebody who runs the service knows who publishes it.
    package var isVouchedFor: Bool
    /// What it may do, in words.
    package var permissions: [String]
    /// Since when.
    package var since: String
    /// When it last got a token; nil while it never did.
    package var lastUsed: String?
    /// The path of its page.
    package var path: String

    /// Makes an application.
    package init(
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
