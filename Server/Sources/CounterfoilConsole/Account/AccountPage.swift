package import CounterfoilServer

/// The list of apps that a user has allowed, which is the first page of the account.
package struct AccountPage: ConsolePage, Hashable {
    package static let template = "account"

    package var console: ConsoleHead
    /// The confirmation of the last action, in one sentence; nil if there is none.
    package var notice: String?
    package var user: AccountHolder
    package var paths: AccountPaths = AccountPaths(at: .clients)
    /// The apps, most recently allowed first.
    package var clients: [ConnectedClient]
    /// The groups and attributes that the owner of the server has given to the user; nil for none.
    package var attributes: AttributeList?
    /// The offer of a first passkey to a user who has just signed in with a password; nil for another user.
    package var offer: PasskeyOffer?
    /// The notification of the browser, which may keep passkeys with a former name; nil for a user without passkeys.
    package var signal: PasskeySignal?

    package var script: PageScript? { offer == nil && signal == nil ? .interactive : .passkeys }
}

/// The values with which the script of a page adds a passkey.
package struct PasskeyOffer: Sendable, Hashable {
    /// The options in JSON (WebAuthn §5.1.8).
    package var options: String
    /// The path that the answer of the browser is posted to.
    package var action: String
    /// The anti-CSRF token of the form; the hidden field `ticket`.
    package var ticket: String
}

/// The user on the account pages.
///
/// The values are shown in full, because only the signed-in user sees the account pages.
package struct AccountHolder: Sendable, Hashable {
    package var name: DisplayName
    package var initials: String
    package var username: String
    package var email: String?
    /// The path of the page that verifies the address; nil if it is verified, or if no mail is set up.
    package var verificationPath: String?
    /// The path of the page that changes the address; nil if ``verificationPath`` leads there, or if no mail is set up.
    package var emailPath: String?
    /// The name of the role, and what it allows; nil for a user without one.
    package var role: String?
    package var roleMeaning: String?

    package init(
        name: DisplayName, username: String, email: String? = nil, verificationPath: String? = nil,
        emailPath: String? = nil, role: String? = nil, roleMeaning: String? = nil
    ) {
        self.name = name
        initials = name.initials
        self.username = username
        self.email = email
        self.verificationPath = verificationPath
        self.emailPath = verificationPath == nil ? emailPath : nil
        self.role = role
        self.roleMeaning = roleMeaning
    }
}

/// The paths of the account pages, with the current one marked.
package struct AccountPaths: Sendable, Hashable {
    package enum Part: Sendable, Hashable, CaseIterable {
        case clients
        case sessions
        case passkeys
        case secondFactor
        case password
        /// The page of the email address, which is no tab.
        case email
        /// The page of the events, which is no tab.
        case activity
    }

    package var account: String
    package var sessions: String
    /// Nil if the server has no passkeys.
    package var passkeys: String?
    /// Nil if the server offers no second factor.
    package var secondFactor: String?
    package var password: String
    package var activity: String
    package var isAtClients: Bool
    package var isAtSessions: Bool
    package var isAtPasskeys: Bool
    package var isAtSecondFactor: Bool
    package var isAtPassword: Bool

    package init(
        at part: Part, account: String = "/account", sessions: String = "/account/sessions",
        passkeys: String? = "/account/passkeys", secondFactor: String? = "/account/second-factor",
        password: String = "/account/password", activity: String = "/account/activity"
    ) {
        self.account = account
        self.sessions = sessions
        self.passkeys = passkeys
        self.secondFactor = secondFactor
        self.password = password
        self.activity = activity
        isAtClients = part == .clients
        isAtSessions = part == .sessions
        isAtPasskeys = part == .passkeys
        isAtSecondFactor = part == .secondFactor
        isAtPassword = part == .password
    }
}

/// An app that a user has allowed, for lists and headings.
package struct ConnectedClient: Sendable, Hashable {
    /// A client that no person registered.
    package struct Unregistered: Sendable, Hashable {
        /// The host of the client's document; nil if the client registered itself.
        package var host: ShownHost?
    }

    /// The name; that of a client with a document is shown beside ``Unregistered/host``.
    package var name: DisplayName
    /// The name for texts, which contains the host of an unregistered client.
    package var fullName: DisplayName
    /// Nil for a client that a person registered.
    package var unregistered: Unregistered?
    /// The initials that replace a missing logo.
    package var initials: String
    package var logo: String?
    package var publisher: DisplayName?
    /// Whether the app belongs to the service itself.
    package var isFirstParty: Bool
    /// Whether an administrator has verified the publisher.
    package var isVouchedFor: Bool
    /// The descriptions of the allowed scopes.
    package var permissions: [String]
    /// The day on which the user first allowed the app.
    package var since: String
    /// The time when the app last got a token, in words; nil if it never did.
    package var lastUsed: String?
    package var path: String

    package init(
        name: DisplayName, fullName: DisplayName? = nil, unregistered: Unregistered? = nil, logo: String? = nil,
        publisher: DisplayName? = nil, isFirstParty: Bool = false, isVouchedFor: Bool = false, permissions: [String],
        since: String, lastUsed: String? = nil, path: String
    ) {
        self.name = name
        self.fullName = fullName ?? name
        self.unregistered = unregistered
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
