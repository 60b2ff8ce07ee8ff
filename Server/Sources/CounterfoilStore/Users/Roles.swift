/// The role of a user in the administration of the server.
///
/// A user has at most one role. The pages and the API of the administration check its ``rights``. The commands on the
/// machine of the server need no role.
public enum UserRole: String, Sendable, Hashable, CaseIterable, Codable {
    /// Every right; an owner gives and withdraws every role, and changes every account.
    case owner
    /// Every right; only an owner gives and withdraws the roles ``owner`` and ``administrator``.
    case administrator
    /// The accounts of users, their sessions and ways in; no clients, no keys.
    case support
    /// Everything, for reading only.
    case auditor
    /// The registration of clients, where the settings leave it to developers; no right of the administration.
    case developer

    /// The rights that a user with this role has.
    public var rights: Set<AdministrationRight> {
        switch self {
        case .owner, .administrator: Set(AdministrationRight.allCases)
        case .support: [.readUsers, .writeUsers]
        case .auditor: Set(AdministrationRight.allCases.filter(\.isForReading))
        case .developer: []
        }
    }

    /// Returns true if a user with this role may give another role to a user, and withdraw it.
    ///
    /// A role with rights beyond the own ones is never given, and only an owner gives ``owner`` and ``administrator``.
    public func mayAssign(_ role: UserRole) -> Bool { HeldRights(of: self).mayAssign(role) }

    /// Returns true if a user with this role may change the account of a user with another role, or with none.
    ///
    /// The way into an account leads to its rights, so the role must not be a stronger one.
    public func mayAct(onAccountWith role: UserRole?) -> Bool { HeldRights(of: self).mayAct(onAccountWith: role) }
}

/// The rights by which a request to the administration is judged.
///
/// At a page they are those of the role of the user. A token carries as many of them as its scope has.
package struct HeldRights: Sendable, Hashable {
    /// The rights.
    package let rights: Set<AdministrationRight>
    /// Whether an owner makes the request, with every right.
    package let isOfOwner: Bool

    /// Creates the rights of a role; none without one.
    package init(of role: UserRole?) { self.init(of: role, within: Set(AdministrationRight.allCases)) }

    /// Creates the rights of a role that a token for the user carries.
    package init(of role: UserRole?, within granted: Set<AdministrationRight>) {
        rights = (role?.rights ?? []).intersection(granted)
        isOfOwner = role == .owner && rights == UserRole.owner.rights
    }

    /// Creates the rights of a token without a user, which no role limits.
    package init(ofService granted: Set<AdministrationRight>) {
        rights = granted
        isOfOwner = false
    }

    /// Returns true if the request may give a role to a user, and withdraw it.
    package func mayAssign(_ role: UserRole) -> Bool {
        guard rights.contains(.writeRoles) else { return false }
        return isOfOwner || role != .owner && role != .administrator && role.rights.isSubset(of: rights)
    }

    /// Returns true if the request may change the account of a user with a role, or with none.
    package func mayAct(onAccountWith role: UserRole?) -> Bool {
        guard let role else { return true }
        return isOfOwner || role != .owner && role.rights.isSubset(of: rights)
    }
}

/// A right of the administration; the scope that it needs at the API has the same name after `counterfoil.admin.`.
public enum AdministrationRight: String, Sendable, Hashable, CaseIterable {
    /// Reads accounts, with their sessions, ways in and sign-ins to apps.
    case readUsers = "users:read"
    /// Creates, invites, changes, disables and deletes accounts, ends sessions, and creates links for new passwords.
    case writeUsers = "users:write"
    /// Gives and withdraws roles, as far as the own role allows it.
    case writeRoles = "roles:write"
    /// Reads clients, registered or not, and the tokens for registration.
    case readClients = "clients:read"
    /// Registers, changes, approves, suspends and deletes clients, and their secrets and policies.
    case writeClients = "clients:write"
    /// Reads scopes and APIs.
    case readAPIs = "apis:read"
    /// Creates, changes and deletes scopes and APIs, and replaces the secrets of APIs.
    case writeAPIs = "apis:write"
    /// Reads signing keys, settings, branding, mails, and the state of the store and of the certificate.
    case readServer = "server:read"
    /// Rotates signing keys, changes the branding, and renews the certificate.
    case writeServer = "server:write"
    /// Reads and exports the audit log.
    case readAudit = "audit:read"
    /// Reads the events for other systems, and the webhooks with their deliveries.
    case readEvents = "events:read"
    /// Creates, changes and deletes webhooks, and sends events again.
    case writeEvents = "events:write"

    /// Whether the right changes nothing.
    public var isForReading: Bool { rawValue.hasSuffix(":read") }

    /// The roles that have the right, the strongest first.
    public var roles: [UserRole] { UserRole.allCases.filter { $0.rights.contains(self) } }
}

extension User {
    /// Returns true if the role of the user has a right.
    public func may(_ right: AdministrationRight) -> Bool { role?.rights.contains(right) == true }

    /// Whether the role of the user has any right of the administration.
    public var hasRights: Bool { role?.rights.isEmpty == false }
}
