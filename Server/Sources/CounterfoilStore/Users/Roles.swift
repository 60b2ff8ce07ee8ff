/// The role of a user in the administration of the server.
///
/// A user has at most one role. A role is a set of ``rights``, which the pages, the commands and the API of the
/// administration check; nothing else follows from it.
public enum UserRole: String, Sendable, Hashable, CaseIterable, Codable {
    /// Every right, among them that to give and withdraw every role.
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
}
