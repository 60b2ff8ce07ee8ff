import CounterfoilServer
import CounterfoilStore

/// The form that registers or changes a client.
package struct ClientFormPage: ConsolePage, Hashable {
    package static let template = "application-form"

    package struct ScopeChoice: Sendable, Hashable {
        package var name: String
        package var description: String
        /// Whether the client may request the scope; sent as `scope`.
        package var isAssigned: Bool
        /// Whether the user may decline the scope; sent as `optional_scope`.
        package var isOptional: Bool
        /// Whether the scope can be made optional, which is true for all scopes except `openid`.
        package var canBeOptional: Bool = true
        /// The consequence of the scope that its description does not say; nil if there is none.
        package var hint: String?
        /// Whether only an administrator can add the scope, so that its boxes cannot be ticked.
        package var isReserved: Bool = false
    }

    /// The fields for redirect URIs and logout URLs, for client types that have them.
    package struct Addresses: Sendable, Hashable {
        package var redirectURIs: FormLines
        /// The path from which the script of the page gets verdicts while the developer types.
        package var verdictPath: String
        /// Whether the operator allows development redirect URIs, so that the hint mentions them.
        package var allowsDevelopment: Bool
        /// The URIs to which a user may return after signing out.
        package var postLogoutRedirectURIs: FormLines
        /// The URL that gets a logout token when a session ends.
        package var backchannelLogoutURI: FormField
    }

    /// The fields that only native clients have.
    package struct Platforms: Sendable, Hashable {
        package var appleApps: FormLines
        package var androidApps: FormLines
    }

    /// The settings on which the configuration of a library depends, for client types in which users sign in.
    package struct LibrarySettings: Sendable, Hashable {
        /// The PKCE policy; nil if the type does not use the authorization code grant.
        package var pkce: FormChoices?
        /// The algorithm that signs ID tokens.
        package var idTokenAlgorithm: FormChoices
        /// Whether ID tokens contain the claims of the scopes `profile` and `email`.
        package var userClaimsInIDToken: FormChoices
    }

    package var console: ConsoleHead
    /// The client that the form changes; nil for a new one.
    package var client: ClientSummary?
    /// The paths of the pages about the client; nil for a new one.
    package var paths: ClientPaths?
    /// The raw value of the client type, such as `spa`.
    package var type: String
    /// The localized name of the client type.
    package var typeName: String
    package var problems: [FormProblem]
    package var action: String
    /// The anti-CSRF token of the form.
    package var ticket: String
    /// The revision of the client in the form; a later change by another request makes saving fail.
    package var revision: Int
    package var name: FormField
    package var publisher: FormField
    /// The fields for URIs; nil if the type has none.
    package var addresses: Addresses?
    /// The fields for Apple and Android apps; nil if the type has none.
    package var platforms: Platforms?
    /// The field for origins; nil if the type has none.
    package var origins: FormLines?
    /// The field for the users who test the client; nil if it is not in development.
    package var testers: FormLines?
    /// Whether a change stops new sign-ins until an administrator approves the client.
    package var endsApproval: Bool
    /// Whether the client loses reserved scopes by a change.
    package var losesReserved: Bool
    package var scopes: [ScopeChoice]
    /// The path of the list of APIs with their scopes.
    package var apisPath: String
    /// The problem of the scopes; nil if there is none.
    package var scopeProblem: String?
    /// The field for the text about the client that the consent page shows.
    package var consentText: FormField
    package var privacyURI: FormField
    package var termsURI: FormField
    /// The path of the link that leaves the form without a change.
    package var cancelPath: String
    /// The field for the keys of client authentication; nil if the type has none.
    package var keys: FormField?
    /// The settings for libraries; nil if users do not sign in to clients of this type.
    package var settings: LibrarySettings?
    /// Whether the fields that are folded by default are shown, because one has a value or a problem.
    package var opensMore: Bool

    /// Whether clients of this type ask users for consent.
    package let asksUsers: Bool
    package let isNative: Bool
    /// Whether the registration creates a client secret if the developer enters no keys; the secret is shown once.
    package let getsSecret: Bool

    package init(
        console: ConsoleHead, client: ClientSummary? = nil, paths: ClientPaths? = nil, type: String,
        typeName: String, problems: [FormProblem] = [], action: String, ticket: String, revision: Int = 0,
        name: FormField,
        publisher: FormField, addresses: Addresses? = nil, platforms: Platforms? = nil, origins: FormLines? = nil,
        testers: FormLines? = nil, endsApproval: Bool = false, losesReserved: Bool = false,
        scopes: [ScopeChoice], apisPath: String, scopeProblem: String? = nil, consentText: FormField,
        privacyURI: FormField,
        termsURI: FormField, cancelPath: String, keys: FormField? = nil, settings: LibrarySettings? = nil,
        opensMore: Bool = false
    ) {
        self.console = console
        self.client = client
        self.paths = paths
        self.type = type
        self.typeName = typeName
        self.problems = problems
        self.action = action
        self.ticket = ticket
        self.revision = revision
        self.name = name
        self.publisher = publisher
        self.addresses = addresses
        self.platforms = platforms
        self.origins = origins
        self.testers = testers
        self.endsApproval = endsApproval
        self.losesReserved = losesReserved
        self.scopes = scopes
        self.apisPath = apisPath
        self.scopeProblem = scopeProblem
        self.consentText = consentText
        self.privacyURI = privacyURI
        self.termsURI = termsURI
        self.cancelPath = cancelPath
        self.keys = keys
        self.settings = settings
        self.opensMore = opensMore
        asksUsers = type != ClientType.service.rawValue
        isNative = type == ClientType.native.rawValue
        getsSecret = client == nil && ClientType(rawValue: type)?.isConfidential == true
    }
}
