import CounterfoilProtocol
package import CounterfoilServer

/// An application as lists and headings show it.
package struct ApplicationSummary: Sendable, Hashable {
    /// `client_id`.
    package var clientID: String
    /// Its name.
    package var name: DisplayName
    /// What stands in the place of its logo where it has none.
    package var initials: String
    /// The path of its logo.
    package var logo: String?
    /// What it is, in words.
    package var typeName: String
    /// Who publishes it.
    package var publisher: DisplayName?
    /// Whether somebody who runs the server knows who publishes it.
    package var isVouchedFor: Bool
    /// Whether it is served under an exception from PKCE.
    package var hasPKCEException: Bool
    /// Whether scopes of a service wait for an administrator.
    package var hasPendingScopes: Bool
    /// Who registered it, where that is shown.
    package var owner: DisplayName?
    /// The path of its page.
    package var path: String

    init(_ client: RegisteredClient, words: Words, issuer: Issuer, owner: Person? = nil) {
        clientID = client.id.rawValue
        name = client.displayName
        initials = client.displayName.initials
        logo = client.presentation.logo.map { issuer.path(of: $0) }
        typeName = words(client.type.phrase)
        publisher = client.presentation.publisher.map { DisplayName($0) }
        isVouchedFor = client.policy.isVouchedFor
        hasPKCEException = client.policy.pkce != .s256
        hasPendingScopes = !client.pendingMachineScope.isEmpty
        self.owner = owner.map { DisplayName($0.displayName, orElse: $0.username.rawValue) }
        path = issuer.path + Endpoint.application.path(of: client.id)
    }

    /// Makes a summary.
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

/// What the types of applications are called.
package enum ClientTypePhrase: String, Phrase {
    /// Native.
    case native = "client-type.native"
    /// Single-page.
    case singlePage = "client-type.spa"
    /// Web.
    case web = "client-type.web"
    /// Device.
    case device = "client-type.device"
    /// Service.
    case service = "client-type.service"
    /// What native means.
    case nativeMeaning = "client-type.native-meaning"
    /// What single-page means.
    case singlePageMeaning = "client-type.spa-meaning"
    /// What web means.
    case webMeaning = "client-type.web-meaning"
    /// What device means.
    case deviceMeaning = "client-type.device-meaning"
    /// What service means.
    case serviceMeaning = "client-type.service-meaning"
}

extension ClientType {
    /// What it is called.
    package var phrase: ClientTypePhrase {
        switch self {
        case .native: .native
        case .singlePage: .singlePage
        case .web: .web
        case .device: .device
        case .service: .service
        }
    }

    /// What it means.
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
