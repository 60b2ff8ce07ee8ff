public import CounterfoilProtocol
public import Foundation

/// The identifier of a person, which is the `sub` of tokens: stable, never reassigned (OpenID Connect Core §8).
///
/// It begins with `per_`, and identifiers of applications never do, so that neither can pass for the other (RFC 9700 §4.15).
public struct PersonIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The identifier as it stands in `sub`.
    public let rawValue: String

    /// An identifier that a store or a token holds, or nil.
    public init?(_ rawValue: String) {
        guard rawValue.hasPrefix("per_"), rawValue.utf8.count <= 64 else { return nil }
        self.rawValue = rawValue
    }

    /// A new identifier of 128 random bits.
    public init(random: RandomBytes = RandomBytes()) {
        rawValue = "per_" + Base64URL.encode(random.bytes(16))
    }

    /// The identifier as it stands in `sub`.
    public var description: String { rawValue }
}

/// The one spelling of a user name: 1 to 64 lower-case ASCII letters, digits and `. _ -`.
///
/// Capitals are lowered. Everything else is refused rather than folded, so that two names that look alike are never two
/// accounts; an `@` is refused, so that a name is never somebody's e-mail address.
public struct Username: Sendable, Hashable, CustomStringConvertible {
    /// The canonical spelling.
    public let rawValue: String

    /// A name as typed, or nil when it cannot be one.
    public init?(_ typed: String) {
        // Some letters of other alphabets become ASCII when they are lowered.
        guard typed.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let lowered = typed.lowercased()
        guard (1...64).contains(lowered.utf8.count),
            lowered.utf8.allSatisfy({ byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            })
        else { return nil }
        rawValue = lowered
    }

    /// The canonical spelling.
    public var description: String { rawValue }
}

/// The one spelling of an e-mail address: ASCII, lowered, one `@`, at most 254 bytes.
public struct EmailAddress: Sendable, Hashable, CustomStringConvertible {
    /// The canonical spelling.
    public let rawValue: String

    /// An address as typed, or nil when it cannot be one.
    public init?(_ typed: String) {
        let bytes = typed.utf8
        guard bytes.count <= 254, bytes.allSatisfy({ (0x21...0x7E).contains($0) && !Self.excluded.contains($0) }),
            let at = bytes.firstIndex(of: UInt8(ascii: "@")), at != bytes.startIndex
        else { return nil }
        let domain = bytes[bytes.index(after: at)...]
        guard !domain.isEmpty, !domain.contains(UInt8(ascii: "@")) else { return nil }
        rawValue = typed.lowercased()
    }

    /// The canonical spelling.
    public var description: String { rawValue }

    private static let excluded = Array("\"(),:;<>[\\]".utf8)
}

/// Somebody who can sign in.
public struct Person: Sendable, Hashable {
    /// The identifier, which is the `sub` of tokens.
    public let id: PersonIdentifier
    /// The user name.
    public var username: Username
    /// The e-mail address, if one is known.
    public var email: EmailAddress?
    /// The name that pages show, at most 100 characters.
    public var displayName: String
    /// The hash of the password.
    public var passwordHash: PasswordHash
    /// Whether the person administers this server.
    public var isAdministrator: Bool
    /// What else is known of the person.
    public var profile: PersonProfile
    /// When the account was made.
    public var createdAt: Date
    /// When name, address or profile were last changed, `updated_at`.
    public var changedAt: Date
    /// When the account was switched off; nil while it may sign in.
    public var disabledAt: Date?

    /// Makes a record.
    public init(
        id: PersonIdentifier = PersonIdentifier(),
        username: Username,
        email: EmailAddress?,
        displayName: String,
        passwordHash: PasswordHash,
        isAdministrator: Bool = false,
        profile: PersonProfile = PersonProfile(),
        createdAt: Date,
        changedAt: Date? = nil,
        disabledAt: Date? = nil
    ) {
        self.id = id
        self.username = username
        self.email = email
        self.displayName = displayName
        self.passwordHash = passwordHash
        self.isAdministrator = isAdministrator
        self.profile = profile
        self.createdAt = createdAt
        self.changedAt = changedAt ?? createdAt
        self.disabledAt = disabledAt
    }
}

/// What happened when a person was to be added.
public enum AddPersonOutcome: Sendable, Hashable {
    /// The account exists now.
    case added
    /// Somebody has this user name already.
    case usernameTaken
    /// Somebody has this e-mail address already.
    case emailTaken
    /// The first administrator was to be added, and there is one.
    case administratorExists
}

/// What happened when a password was to be changed.
public enum ChangePasswordOutcome: Sendable, Hashable {
    /// It is changed; every other session of the person has ended, and codes that wait are dead.
    case changed
    /// It was changed by somebody else meanwhile; nothing was written.
    case changedMeanwhile
    /// The person does not exist or may not sign in any more; nothing was written.
    case personGone
}

/// What happened when an account was to be changed.
public enum UpdatePersonOutcome: Sendable, Hashable {
    /// It is changed now.
    case updated
    /// There is no such person; nothing was written.
    case notFound
    /// Somebody else has this e-mail address already; nothing was written.
    case emailTaken
}

/// The people who can sign in.
public protocol PeopleStore: Sendable {
    /// The person of an identifier.
    func person(_ id: PersonIdentifier) async throws(StoreFault) -> Person?
    /// The person of a user name.
    func person(named username: Username) async throws(StoreFault) -> Person?
    /// The person of an e-mail address.
    func person(withEmail email: EmailAddress) async throws(StoreFault) -> Person?
    /// Whether any administrator exists.
    func hasAdministrator() async throws(StoreFault) -> Bool
    /// Adds a person, unless the name or the address is taken.
    func addPerson(_ person: Person) async throws(StoreFault) -> AddPersonOutcome
    /// Adds a person as the first administrator, unless one exists.
    func addFirstAdministrator(_ person: Person) async throws(StoreFault) -> AddPersonOutcome
    /// Changes name, address of e-mail, profile and whether the account is switched off, at a moment; everything else stays.
    ///
    /// An account that is switched off loses its sessions in the same step.
    func updatePerson(_ person: Person, at time: Date) async throws(StoreFault) -> UpdatePersonOutcome
    /// Every person, by user name; at most so many, after a name.
    func people(after username: Username?, limit: Int) async throws(StoreFault) -> [Person]
    /// Changes a password from the one that was proved, and signs the person out everywhere but in one browser, as
    /// ``SessionStore/signOutEverywhere(_:except:at:)`` does: whoever knew the former one keeps nothing that it opened.
    func changePassword(
        of person: PersonIdentifier,
        from former: PasswordHash,
        to new: PasswordHash,
        keeping session: ArtefactDigest?,
        at time: Date
    ) async throws(StoreFault) -> ChangePasswordOutcome
}
