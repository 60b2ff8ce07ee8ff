@_spi(Counterfoil) import CounterfoilProtocol
public import Foundation

/// The beginning of a username, an email address or a display name, or a whole identifier, by which users are found.
public struct UserSearch: Sendable, Hashable {
    /// The maximum length of a typed text in bytes: 250 characters, whatever they are.
    public static let limit = 1000

    /// The text in the form in which the store compares it.
    public let text: String
    /// The identifier, if the typed text is the whole of one; it distinguishes upper and lower case.
    public let identifier: UserIdentifier?

    /// Parses a text as typed; nil if it is empty, too long, or contains a control character.
    ///
    /// Every other character stands for itself, also `%`, `_` and `*`.
    public init?(_ typed: String) {
        guard typed.utf8.count <= Self.limit,
            !typed.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        let text = Self.key(of: typed)
        guard !text.isEmpty else { return nil }
        self.text = text
        identifier = UserIdentifier(typed.asTypedName())
    }

    /// Returns the form of a display name in which it is compared, at most 256 bytes.
    package static func key(of name: String) -> String {
        name.asTypedName().precomposedStringWithCanonicalMapping.lowercased().prefix(bytes: 256)
    }
}

/// A query for users; a user must satisfy every condition of the query.
public struct UserQuery: Sendable, Hashable {
    /// The state of users, on which it depends if they can sign in.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Users who are not disabled.
        case enabled
        /// Users who are disabled.
        case disabled
    }

    /// The role of users.
    public enum Role: RawRepresentable, Sendable, Hashable, CaseIterable {
        /// Users with a role.
        case role(UserRole)
        /// Users without a role.
        case noRole

        /// The roles, the one with most rights first, and then ``noRole``.
        public static let allCases = UserRole.allCases.map(Role.role) + [.noRole]

        /// Parses the name of a role, or `none`; nil for any other text.
        public init?(rawValue: String) {
            if rawValue == "none" {
                self = .noRole
            } else if let role = UserRole(rawValue: rawValue) {
                self = .role(role)
            } else {
                return nil
            }
        }

        /// The role; nil for ``noRole``.
        public var role: UserRole? { if case .role(let role) = self { role } else { nil } }

        /// The name of the role, or `none`.
        public var rawValue: String {
            switch self {
            case .role(let role): role.rawValue
            case .noRole: "none"
            }
        }
    }

    /// The time of the last sign-in.
    public enum LastSignIn: Sendable, Hashable {
        /// The user has never signed in.
        case never
        /// The user last signed in before a time.
        case before(Date)
        /// The user last signed in at a time or later.
        case since(Date)
    }

    /// The number of records that one call examines, unless ``search`` is set.
    public static let examined = 5000
    /// The number of users that a search examines for each of username, email address and display name.
    public static let candidates = 1000

    /// The text to search for; nil for all users.
    public var search: UserSearch?
    /// The state of the users; nil for both.
    public var state: State?
    /// The role of the users; nil for all users.
    public var role: Role?
    /// The time of the last sign-in; nil for any.
    public var lastSignIn: LastSignIn?
    /// Whether only users without a second factor are found.
    public var lacksSecondFactor: Bool
    /// Whether only users without a passkey are found.
    public var lacksPasskey: Bool
    /// The username after which the users are; nil to begin with the first one.
    public var after: Username?
    /// The maximum number of users to return, 1 to 1000.
    public var limit: Int

    /// Creates a query; by default it returns the first 100 users.
    ///
    /// A limit outside 1 to 1000 becomes the nearest valid value.
    public init(
        search: UserSearch? = nil, state: State? = nil, role: Role? = nil, lastSignIn: LastSignIn? = nil,
        lacksSecondFactor: Bool = false, lacksPasskey: Bool = false, after: Username? = nil, limit: Int = 100
    ) {
        self.search = search
        self.state = state
        self.role = role
        self.lastSignIn = lastSignIn
        self.lacksSecondFactor = lacksSecondFactor
        self.lacksPasskey = lacksPasskey
        self.after = after
        self.limit = min(max(limit, 1), 1000)
    }
}

/// A user with the facts that lists show, read in one transaction.
public struct UserOverview: Sendable, Hashable {
    /// The user, who may be disabled.
    public let user: User
    /// The time of the last sign-in; nil if there was none.
    public let lastSignInAt: Date?
    /// Whether the user has a second factor, even a lost one (``SecondFactorState/lost``).
    public let hasSecondFactor: Bool
    /// The number of passkeys.
    public let passkeys: Int

    /// Creates facts that a store has read in one transaction.
    public init(user: User, lastSignInAt: Date?, hasSecondFactor: Bool, passkeys: Int) {
        self.user = user
        self.lastSignInAt = lastSignInAt
        self.hasSecondFactor = hasSecondFactor
        self.passkeys = passkeys
    }
}

/// A part of the users whom a query finds.
public struct UserPage: Sendable, Hashable {
    /// The users, in the order of their usernames.
    public let users: [UserOverview]
    /// The username after which the query continues; nil if nothing is left.
    ///
    /// A page can have fewer users than asked for, or none, and continue: one call examines no more than
    /// ``UserQuery/examined`` records.
    public let next: Username?
    /// Whether more than ``UserQuery/candidates`` email addresses or display names begin with the text of the search.
    ///
    /// The page then has no user who is found by that email address or display name alone.
    public let isTooBroad: Bool

    /// Creates a page.
    public init(users: [UserOverview], next: Username?, isTooBroad: Bool = false) {
        self.users = users
        self.next = next
        self.isTooBroad = isTooBroad
    }
}

/// A number that is counted up to a limit.
public struct UserCount: Sendable, Hashable {
    /// The maximum number that is counted: 1000.
    public static let limit = 1000

    /// The number, at most ``limit``.
    public let number: Int
    /// Whether there are exactly ``number``; if false, there can be more.
    public let isExact: Bool

    /// Creates a number that is counted.
    public init(_ number: Int, isExact: Bool = true) {
        self.number = min(number, Self.limit)
        self.isExact = isExact && number <= Self.limit
    }
}

/// The numbers of records that the deletion of a user deletes, each counted up to ``UserCount/limit``.
public struct RemovalCounts: Sendable, Hashable {
    /// The sessions.
    public let sessions: UserCount
    /// The passkeys.
    public let passkeys: UserCount
    /// The clients that the user has allowed something.
    public let consents: UserCount
    /// The grants, each with its codes and refresh tokens, active or not.
    public let grants: UserCount
    /// The clients that the user owns, which are deleted or get another owner.
    public let clients: UserCount
    /// The audit events, which get a pseudonym and are kept.
    public let events: UserCount

    /// Creates the numbers that a store has counted in one transaction.
    public init(
        sessions: UserCount, passkeys: UserCount, consents: UserCount, grants: UserCount, clients: UserCount,
        events: UserCount
    ) {
        self.sessions = sessions
        self.passkeys = passkeys
        self.consents = consents
        self.grants = grants
        self.clients = clients
        self.events = events
    }
}
