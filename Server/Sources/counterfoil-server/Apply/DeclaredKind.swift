import CounterfoilServer
@_spi(Counterfoil) import CounterfoilTokens

/// A kind of record that a file can declare; the raw value is the member of the file.
///
/// The order is that in which records are applied: each depends only on kinds before it.
enum DeclaredKind: String, CaseIterable, Sendable {
    case scopes
    case apis
    case clients
    case unregisteredPolicy = "unregistered_policy"
    case branding
    case users

    /// The member of a record that names it; nil if there is one record only.
    var key: String? {
        switch self {
        case .scopes: "scope"
        case .apis: "resource"
        case .clients: "client_id"
        case .users: "username"
        case .unregisteredPolicy, .branding: nil
        }
    }

    /// The name of one record in output.
    var noun: String {
        switch self {
        case .scopes: "scope"
        case .apis: "API"
        case .clients: "app"
        case .unregisteredPolicy: "policy for unregistered apps"
        case .branding: "branding"
        case .users: "user"
        }
    }

    /// The operation whose body has the members of a complete record.
    private var operation: String {
        switch self {
        case .scopes: "createScope"
        case .apis: "createAPI"
        case .clients: "createClient"
        case .unregisteredPolicy: "changeUnregisteredPolicy"
        case .branding: "changeBranding"
        case .users: "setUserRole"
        }
    }

    /// The members that cannot change.
    var fixedMembers: Set<String> {
        switch self {
        case .clients: ["client_id", "application_type"]
        default: Set([key].compactMap(\.self))
        }
    }

    /// The members that are objects whose own members change one by one.
    var mergedMembers: Set<String> {
        switch self {
        case .scopes: ["texts"]
        case .branding: ["statements"]
        default: []
        }
    }

    /// The members that are names of scopes, in one text or in a list.
    var scopeMembers: [String] {
        switch self {
        case .apis: ["scope"]
        case .clients: ["scope", "optional_scope", "machine_scope"]
        case .unregisteredPolicy: ["default_scope", "maximum_scope"]
        case .scopes, .branding, .users: []
        }
    }

    /// Whether a record can be deleted by an apply.
    var isRemovable: Bool { self == .scopes || self == .apis || self == .clients }

    /// The members of a body that no record shows, so that each run would send them again.
    private var unshownMembers: [String] { self == .clients ? ["accepted_redirect_uris", "logo_image"] : [] }

    /// Returns the members that the API would refuse by their names and types, and those that no record shows.
    func refusals(of members: [String: JSONValue]) -> [AdministrationOperation.RefusedMember] {
        guard let operation = AdministrationOperation.named(operation) else { return [] }
        // The role of a user has an operation of its own, with the name in the path.
        return operation.refusals(of: self == .users ? members.filter { $0.key != "username" } : members)
            + unshownMembers.filter { members[$0] != nil }.map {
                AdministrationOperation.RefusedMember(path: [$0], detail: "A file cannot declare it; use app edit.")
            }
    }
}
