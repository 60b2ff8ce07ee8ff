public import CounterfoilProtocol

/// A permission that applications can be assigned, in the owner's own words.
public struct ScopeDefinition: Sendable, Hashable {
    /// The name on the wire.
    public let token: Scope.Token
    /// What it allows, as the consent page says it; 1 to 200 characters.
    public var description: String

    /// Makes a definition.
    public init(token: Scope.Token, description: String) {
        self.token = token
        self.description = description
    }

    /// Those of the standards, which all speak of a person.
    static let ofPeople = Set(standard.map(\.token))

    /// Those that UserInfo knows (OpenID Connect Core §5.4).
    static let ofUserInfo = Scope(standard.map(\.token).filter { $0 != .offlineAccess })

    /// The scopes of the standards, which exist from the start.
    public static let standard: [ScopeDefinition] = [
        ScopeDefinition(token: .openID, description: "Sign you in"),
        ScopeDefinition(token: .profile, description: "See your name and user name"),
        ScopeDefinition(token: .email, description: "See your e-mail address"),
        ScopeDefinition(token: .address, description: "See your postal address"),
        ScopeDefinition(token: .phone, description: "See your telephone number"),
        ScopeDefinition(token: .offlineAccess, description: "Stay signed in when you are not there"),
    ]
}

/// What happened when a scope was to be added.
public enum AddScopeOutcome: Sendable, Hashable {
    /// It exists now.
    case added
    /// There is one with this name already.
    case exists
}

/// The permissions that exist.
public protocol ScopeStore: Sendable {
    /// Every scope by name, those of ``ScopeDefinition/standard`` included.
    func scopes() async throws(StoreFault) -> [ScopeDefinition]
    /// Adds a scope, unless its name is taken.
    func addScope(_ scope: ScopeDefinition) async throws(StoreFault) -> AddScopeOutcome
}
