import CounterfoilProtocol
package import CounterfoilServer

/// A client for lists and headings.
package struct ApplicationSummary: Sendable, Hashable {
    package var clientID: String
    package var name: DisplayName
    /// The initials that replace a missing logo.
    package var initials: String
    package var logo: String?
    package var typeName: String
    package var publisher: DisplayName?
    /// Whether an administrator knows the publisher.
    package var isVouchedFor: Bool
    /// Whether the policy has a PKCE exception.
    package var hasPKCEException: Bool
    /// Whether scopes await approval by an administrator.
    package var hasPendingScopes: Bool
    /// The developer, if the list shows it.
    package var owner: DisplayName?
    package var path: String

    init(_ client: RegisteredClient, words: Localizer, issuer: Issuer, owner: Person? = nil) {
        clientID = client.id.rawValue
        name = client.displayName
        initials = client.displayName.initials
        logo = issuer.logoPath(of: client)
        typeName = words(client.type.phrase)
        publisher = client.presentation.publisher.map { DisplayName($0) }
        isVouchedFor = client.policy.isVouchedFor
        hasPKCEException = client.policy.pkce != .s256
        hasPendingScopes = !client.pendingMachineScope.isEmpty
        self.owner = owner.map { DisplayName(of: $0) }
        path = issuer.path + Endpoint.application.path(of: client.id)
    }

    package init(
        clientID: String, name: DisplayName, logo: String? = nil, typeName: String, publisher: DisplayName? = nil,
        isVouchedFor: Bool = true, hasPKCEException: Bool = false, hasPendingScopes: Bool = false,
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
        self.owner = owner
        self.path = path
    }
}

package enum ClientTypePhrase: String, LocalizationKey {
    case native = "client-type.native"
    case singlePage = "client-type.spa"
    case web = "client-type.web"
    case device = "client-type.device"
    case service = "client-type.service"
    case nativeMeaning = "client-type.native-meaning"
    case singlePageMeaning = "client-type.spa-meaning"
    case webMeaning = "client-type.web-meaning"
    case deviceMeaning = "client-type.device-meaning"
    case serviceMeaning = "client-type.service-meaning"
}

extension ClientType {
    package var phrase: ClientTypePhrase {
        switch self {
        case .native: .native
        case .singlePage: .singlePage
        case .web: .web
        case .device: .device
        case .service: .service
        }
    }

    package var meaning: ClientTypePhrase {
        switch self {
        case .native: .nativeMeaning
        case .singlePage: .singlePageMeaning
        case .web: .webMeaning
        case .device: .deviceMeaning
        case .service: .serviceMeaning
        }
    }
}
