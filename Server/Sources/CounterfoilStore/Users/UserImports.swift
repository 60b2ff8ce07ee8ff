/// A user of another server, who gets an account here with the same identifier.
public struct ImportedUser: Sendable, Hashable {
    /// The account, whose password hash can be one of another program.
    public let user: User
    /// The groups and attributes.
    public let attributes: UserAttributes
    /// The identities at other issuers.
    public let identities: [UserIdentity]
    /// Whether the identifier is that of the former server; false for a new one.
    public let keepsIdentifier: Bool

    /// Creates a record.
    public init(
        _ user: User, attributes: UserAttributes = UserAttributes(), identities: [UserIdentity] = [],
        keepsIdentifier: Bool
    ) {
        self.user = user
        self.attributes = attributes
        self.identities = identities
        self.keepsIdentifier = keepsIdentifier
    }
}

/// The outcome of ``UserImportStore/importUsers(_:recording:)`` for one user.
public enum ImportUserOutcome: Sendable, Hashable {
    /// The account was created.
    case added
    /// An account has the identifier and the username, or for a user with a new identifier the username and the email
    /// address; nothing was written.
    case exists
    /// Another user, a client, or a deleted user with records has the identifier; nothing was written.
    case identifierTaken
    /// The username is taken; nothing was written.
    case usernameTaken
    /// The email address is taken; nothing was written.
    case emailTaken
    /// A user has an identity with the same issuer and subject; nothing was written.
    case identityTaken
}

/// The import of users from another server.
public protocol UserImportStore: Sendable {
    /// Returns the outcome that an import would have for each user, and writes nothing.
    ///
    /// The users must differ from each other in all unique values.
    func outcomes(ofImporting users: [ImportedUser]) async throws(StoreFault) -> [ImportUserOutcome]
    /// Adds users in one transaction, without those whose unique values are taken.
    ///
    /// - Parameters:
    ///   - users: The users.
    ///   - events: Returns the events of a user who is added, which the store appends in the same transaction.
    /// - Returns: The outcome for each user, in the same order.
    func importUsers(
        _ users: [ImportedUser], recording events: @escaping @Sendable (User) -> [AuditEvent]
    ) async throws(StoreFault) -> [ImportUserOutcome]
}
