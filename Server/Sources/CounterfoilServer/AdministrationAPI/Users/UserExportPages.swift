package import CounterfoilProtocol
package import CounterfoilStore
package import Foundation

/// The export of everything that the server stores about a user, without a secret, in pages.
///
/// Of a record that this version cannot read, it has the kind and the identifier. If the account itself cannot be read,
/// the export has no account.
package struct UserExportPages: Sendable {
    /// The number of records of a kind in a page.
    private static let limit = 200

    private let id: UserIdentifier
    private let username: String
    private let store: any UncachedStore
    private let hasEvents: Bool

    /// - Parameters:
    ///   - id: The user.
    ///   - username: The name of the user.
    ///   - store: The store.
    ///   - hasEvents: Whether the export has the audit events of the user.
    package init(
        of id: UserIdentifier, named username: String, in store: any UncachedStore, withEvents hasEvents: Bool
    ) {
        self.id = id
        self.username = username
        self.store = store
        self.hasEvents = hasEvents
    }

    /// The position at which a page begins: after a record of a kind that has no limit, or nil before the first one.
    package enum Position: Sendable, CustomStringConvertible {
        case grants(after: GrantPosition?)
        case consents(after: ClientIdentifier?)
        case events(after: AuditPosition?)

        /// Restores a position from its description; nil if the text is none.
        init?(_ text: String) {
            let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
            let last = parts.count == 2 ? parts[1] : nil
            switch parts.first {
            case "grants":
                let names = last?.split(separator: " ", maxSplits: 1).map(String.init)
                guard let names, names.count == 2, let id = GrantIdentifier(names[0]),
                    let client = ClientIdentifier(names[1])
                else { return nil }
                self = .grants(after: GrantPosition(clientID: client, id: id))
            case "consents": self = .consents(after: last.flatMap { ClientIdentifier($0) })
            case "events": self = .events(after: last.flatMap { AuditPosition($0) })
            default: return nil
            }
        }

        package var description: String {
            switch self {
            case .grants(let last): "grants" + (last.map { " \($0.id) \($0.clientID)" } ?? "")
            case .consents(let last): "consents" + (last.map { " \($0)" } ?? "")
            case .events(let last): "events" + (last.map { " \($0)" } ?? "")
            }
        }
    }

    /// Returns the page at a position, or the first one, which begins with the records whose number has a limit.
    package func page(at position: Position?, time: Date) async throws -> UserExportPage {
        var page = UserExportPage()
        if position == nil { try await addRecords(to: &page, time: time) }
        try await fill(&page, from: position ?? .grants(after: nil))
        return page
    }

    /// Adds the records whose number has a limit.
    private func addRecords(to page: inout UserExportPage, time: Date) async throws {
        page.exportedAt = time
        do { page.account = try await store.userOverview(id).map(AccountDocument.init) } catch let fault {
            guard fault.isOfRecord else { throw fault }
        }
        page.attributes = AttributesDocument(try await store.attributes(of: id))
        page.sessions = try await store.sessions(of: id).map(UserSessionDocument.init)
        page.passkeys = try await store.passkeys(of: id).map(UserPasskeyDocument.init)
        page.secondFactor = UserSecondFactorDocument(
            try await store.secondFactor(of: id), securityKeys: try await store.securityKeys(of: id))
        let identities = try await store.identities(of: id).map(UserIdentityDocument.init)
        if !identities.isEmpty { page.identities = identities }
        page.clients = try await store.clients(of: id).map { ClientRecord($0) }
        let managed = try await store.clientIdentifiers(managedBy: id).map(\.rawValue)
        if !managed.isEmpty { page.managedClients = managed }
        let unreadable = try await store.unreadableRecords(of: id).map(UnreadableDocument.init)
        if !unreadable.isEmpty { page.unreadable = unreadable }
    }

    /// Adds records from a position on, until there are too many of a kind.
    private func fill(_ page: inout UserExportPage, from start: Position) async throws {
        var position: Position? = start
        if case .grants(let last) = start {
            let grants = try await store.grants(of: id, after: last, limit: Self.limit)
            page.grants = grants.map(UserGrantDocument.init)
            let end = grants.last.map {
                Position.grants(after: GrantPosition(clientID: $0.grant.clientID, id: $0.grant.id))
            }
            position = grants.count == Self.limit ? end : .consents(after: nil)
        }
        if case .consents(let last) = position {
            let consents = try await store.consents(of: id, after: last, limit: Self.limit)
            page.consents = consents.map(UserConsentDocument.init)
            let end = consents.last.map { Position.consents(after: $0.client.id) }
            position = consents.count == Self.limit ? end : hasEvents ? .events(after: nil) : nil
        }
        if case .events(let last) = position {
            let found = try await store.searchAudit(AuditQuery(userID: id, before: last, limit: Self.limit))
            page.auditEvents = found.entries.map { AuditDocument($0, names: [id: username]) }
            position = found.rest.map { .events(after: $0) }
        }
        page.position = position
    }
}

/// A page of the export of a user; a member that does not apply to the page is absent.
package struct UserExportPage: AdministrationDocument {
    typealias Member = CodingKeys

    enum CodingKeys: String, CodingKey, CaseIterable {
        case account, attributes, sessions, passkeys, identities, clients, grants, consents, unreadable, next
        case exportedAt = "exported_at"
        case secondFactor = "second_factor"
        case managedClients = "managed_clients"
        case auditEvents = "audit_events"
    }

    fileprivate(set) var exportedAt: Date?
    fileprivate(set) var account: AccountDocument?
    fileprivate(set) var attributes: AttributesDocument?
    fileprivate(set) var sessions: [UserSessionDocument]?
    fileprivate(set) var passkeys: [UserPasskeyDocument]?
    fileprivate(set) var secondFactor: UserSecondFactorDocument?
    fileprivate(set) var identities: [UserIdentityDocument]?
    fileprivate(set) var clients: [ClientRecord]?
    fileprivate(set) var managedClients: [String]?
    fileprivate(set) var grants: [UserGrantDocument]?
    fileprivate(set) var consents: [UserConsentDocument]?
    fileprivate(set) var auditEvents: [AuditDocument]?
    fileprivate(set) var unreadable: [UnreadableDocument]?
    /// The cursor of the next page; nil at the end.
    var next: String?
    /// The position of the next page; nil at the end.
    package fileprivate(set) var position: UserExportPages.Position?

    /// Returns the page as JSON.
    package func encoded() throws -> [UInt8] { Array(try AdministrationAnswer.encode(self)) }
}
