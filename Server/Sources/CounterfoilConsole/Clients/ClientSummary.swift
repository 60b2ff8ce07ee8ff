import CounterfoilProtocol
package import CounterfoilServer
import CounterfoilStore

/// The values of a client that lists and headings show.
package struct ClientSummary: Sendable, Hashable {
    package var clientID: String
    package var name: DisplayName
    /// The initials that replace a missing logo.
    package var initials: String
    package var logo: String?
    package var typeName: String
    package var publisher: DisplayName?
    /// Whether an administrator has verified the publisher.
    package var isVouchedFor: Bool
    /// Whether the policy has a PKCE exception.
    package var hasPKCEException: Bool
    /// Whether scopes await approval by an administrator.
    package var hasPendingScopes: Bool
    /// Whether an administrator has suspended the client.
    package var isSuspended: Bool
    /// Whether no user can sign in before an administrator approves the client.
    package var isPending: Bool
    package var isInDevelopment: Bool
    /// The developer who owns the client; nil if the list does not show owners.
    package var owner: DisplayName?
    /// The use of the client; nil if it is not shown.
    package var use: Use?
    package var path: String

    /// The use of a client by users, in words.
    package struct Use: Sendable, Hashable {
        /// The number of users.
        package var users: String
        /// The time of the last use; nil if there was none.
        package var lastUsed: String?
    }

    init(_ client: RegisteredClient, words: Localizer, issuer: Issuer, owner: User? = nil) {
        clientID = client.id.rawValue
        name = client.displayName
        initials = client.displayName.initials
        logo = issuer.logoPath(of: client)
        typeName = words(client.type.label)
        publisher = client.presentation.publisher.map { DisplayName($0) }
        isVouchedFor = client.policy.isVouchedFor
        hasPKCEException = client.policy.pkce.isException
        hasPendingScopes = !client.pendingMachineScope.isEmpty
        isSuspended = client.suspension != nil
        isPending = client.isPending
        isInDevelopment = client.isInDevelopment
        self.owner = owner.map { DisplayName(of: $0) }
        path = issuer.path + Endpoint.client.path(of: client.id)
    }

    package init(
        clientID: String, name: DisplayName, logo: String? = nil, typeName: String, publisher: DisplayName? = nil,
        isVouchedFor: Bool = true, hasPKCEException: Bool = false, hasPendingScopes: Bool = false,
        isSuspended: Bool = false, isPending: Bool = false, isInDevelopment: Bool = false,
        owner: DisplayName? = nil, path: String
    ) {
        self.clientID = clientID
        self.name = name
        initials = name.initials
        self.logo = logo
        self.typeName = typeName
        self.publisher = publisher
        self.isVouchedFor = isVouchedFor
        self.hasPKCEException = hasPKCEException
        self.hasPendingScopes = hasPendingScopes
        self.isSuspended = isSuspended
        self.isPending = isPending
        self.isInDevelopment = isInDevelopment
        self.owner = owner
        self.path = path
    }
}

extension ClientType {
    /// The localized name of the type.
    var label: LocalizedText { LocalizedText(key: "client-type.\(rawValue)") }

    /// The kind of app that the type is for.
    var meaning: LocalizedText { LocalizedText(key: "client-type.\(rawValue)-meaning") }
}
