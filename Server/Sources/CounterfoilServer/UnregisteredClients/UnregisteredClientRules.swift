import CounterfoilProtocol
import CounterfoilStore
@_spi(Counterfoil) import CounterfoilTokens
import Foundation

/// The rules that turn the metadata of a document or a registration request into a client.
///
/// A registration request with a value that the server does not support is refused. In a document, which is written
/// for many servers, such a value is left aside if the client can do without it.
final class UnregisteredClientRules: Sendable {
    let settings: ServerSettings
    let policy: UnregisteredClientPolicy
    /// The scopes that the client can request.
    let scope: Scope

    typealias Refusal = ClientMetadata.Refusal

    /// Creates the rules under a policy.
    ///
    /// - Parameter definitions: The scopes of the server.
    init(settings: ServerSettings, policy: UnregisteredClientPolicy, definitions: [ScopeDefinition]) {
        self.settings = settings
        self.policy = policy
        scope = policy.requestableScope(of: definitions)
    }

    /// Returns the client that a document describes.
    func client(
        of document: ClientMetadata, at url: ClientDocumentURL, source: ClientSource, now: Date
    ) throws(Refusal) -> RegisteredClient {
        if let member = document.secretMembers.first { throw Refusal("it must not contain \(member)") }
        // A key set is checked even if the client does not use it, because a private key must not be public.
        let keys = try keys(document)
        let usesKeys = try Self.usesKeys(
            document, hasUsableKeys: keys?.keys.isEmpty == false || document.keysURI != nil)
        guard !document.redirectURIs.isEmpty else { throw Refusal(.invalidRedirectURI, "redirect_uris is missing") }
        let type = usesKeys ? ClientType.web : Self.publicType(of: document)
        let context = context(of: type, id: url.clientID)
        let redirectURIs = Self.accepted(document.redirectURIs, for: context)
        guard !redirectURIs.isEmpty else { throw Refusal(.invalidRedirectURI, "no redirect URI can be used") }
        return RegisteredClient(
            id: url.clientID,
            type: type,
            presentation: presentation(document, fallbackName: url.host, ofDocumentAt: url.host),
            redirectURIs: redirectURIs,
            scope: scope,
            // A public client of any type can be a page in a browser, which gets its codes at the same origins.
            origins: usesKeys ? [] : [RegisteredOrigin](of: redirectURIs),
            postLogoutRedirectURIs: Self.accepted(document.postLogoutRedirectURIs, for: context),
            keys: usesKeys ? keys ?? JSONWebKeySet() : nil,
            keysURI: usesKeys ? try keysURI(document) : nil,
            source: source,
            policy: policy(for: type, document),
            createdAt: now
        )
    }

    /// Returns true if the client of a document authenticates by `private_key_jwt`, and false if it does not
    /// authenticate.
    ///
    /// The method that the document names is required, even if it also lists `none`. If the server does not support
    /// that method, or the document has only a list, `private_key_jwt` in the list counts before `none`, unless the
    /// document publishes no keys. Methods that the server does not know are left aside. A document with neither member
    /// means `none`, and not the default of RFC 7591.
    private static func usesKeys(
        _ document: ClientMetadata, hasUsableKeys: Bool
    ) throws(Refusal) -> Bool {
        let (named, listed) = (document.authenticationMethod, document.supportedAuthenticationMethods ?? [])
        if let named, DynamicRegistration.symmetricMethods.contains(named) {
            throw Refusal("token_endpoint_auth_method must not be \(named), because a document is public")
        }
        if let method = listed.first(where: DynamicRegistration.symmetricMethods.contains) {
            throw Refusal(
                "token_endpoint_auth_methods_supported must not contain \(method), because a document is public")
        }
        let publishesKeys = document.keys != nil || document.keysURI != nil
        switch named {
        case "private_key_jwt"?: break
        case "none"?: return false
        // A key that the server cannot use does not turn a client that signs into one that anyone can be.
        case _ where listed.contains("private_key_jwt") && (publishesKeys || !listed.contains("none")): break
        default: return false
        }
        guard hasUsableKeys else { throw Refusal("private_key_jwt needs jwks with a usable key, or jwks_uri") }
        return true
    }

    /// The type of a client that does not authenticate.
    ///
    /// A client with a redirect URI on the device of the user is native, even if its `application_type` is `web`: many
    /// clients do not know that member, whose default is `web`.
    static func publicType(of metadata: ClientMetadata) -> ClientType {
        let isOnDevice = metadata.redirectURIs.contains { text in
            guard let kind = try? RedirectURI(text).kind else { return false }
            if case .https = kind { return false }
            return true
        }
        return isOnDevice || metadata.applicationType == .native ? .native : .singlePage
    }

    /// Returns the redirect URIs that may be registered, each once; the others are ignored.
    private static func accepted(_ texts: [String], for context: RedirectURIContext) -> [RedirectURI] {
        var accepted: [RedirectURI] = []
        for case .accepted(let uri, _) in texts.map({ RedirectURIRegistration.verdict(on: $0, for: context) })
        where !accepted.contains(uri) {
            accepted.append(uri)
        }
        return accepted
    }

    func context(of type: ClientType, id: ClientIdentifier?) -> RedirectURIContext {
        RedirectURIContext(
            type: type, clientID: id, issuer: settings.issuer, callbackOrigin: settings.callbackOrigin,
            plainSchemes: settings.plainSchemes, allowsDevelopment: settings.allowsDevelopmentRedirectURIs)
    }

    /// Reads `jwks`, in which every key must be public; nil if there is none.
    func keys(_ metadata: ClientMetadata) throws(Refusal) -> JSONWebKeySet? {
        try metadata.keys.map { keys throws(Refusal) in try Self.keySet(keys) }
    }

    /// Reads a JSON Web Key Set, in which every key must be public (RFC 7517 §5).
    static func keySet(_ keys: JSONValue) throws(Refusal) -> JSONWebKeySet {
        guard case .object(let members) = keys, case .array(let entries)? = members["keys"] else {
            throw Refusal("jwks is not a JSON Web Key Set")
        }
        guard entries.count <= ClientKeys.limit else { throw Refusal("jwks has more than \(ClientKeys.limit) keys") }
        for case .object(let key) in entries where !privateMembers.isDisjoint(with: key.keys) {
            throw Refusal("jwks contains a private or symmetric key; publish public keys only")
        }
        guard let set = try? JSONWebKeySet(parsing: keys.encoded()) else {
            throw Refusal("jwks is not a JSON Web Key Set")
        }
        return set
    }

    /// The members of a private or symmetric key (RFC 7518 §6).
    private static let privateMembers: Set<String> = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

    func keysURI(_ metadata: ClientMetadata) throws(Refusal) -> AbsoluteURI? {
        try metadata.keysURI.map { text throws(Refusal) in
            guard let uri = AbsoluteURI(ofPage: text) else { throw Refusal("jwks_uri must be an https URL") }
            return uri
        }
    }

    /// The texts that pages show; a value that cannot be shown is left aside.
    ///
    /// So is a name that contains another host than that of the document (``NamedHosts``).
    func presentation(
        _ metadata: ClientMetadata, fallbackName: String, ofDocumentAt host: String? = nil
    ) -> ClientPresentation {
        let name = metadata.name.flatMap(Self.shownName)
        let isForeign = host.map { NamedHosts(in: name ?? "").foreign(toDocumentAt: $0) != nil } ?? false
        return ClientPresentation(
            name: isForeign ? String(fallbackName.prefix(100)) : name ?? String(fallbackName.prefix(100)),
            privacyURI: metadata.policyURI.flatMap { AbsoluteURI(ofPage: $0) },
            termsURI: metadata.termsURI.flatMap { AbsoluteURI(ofPage: $0) })
    }

    /// Returns a name that pages can show as it is; nil if they would leave out invisible or bidirectional characters.
    static func shownName(_ text: String) -> String? {
        ClientRules.shownName(text).flatMap { DisplayName.hidesSomething($0) ? nil : $0 }
    }

    func policy(for type: ClientType, _ metadata: ClientMetadata) -> ClientPolicy {
        var clientPolicy = ClientPolicy.standard(for: type)
        clientPolicy.pkce = .s256
        clientPolicy.webViews = .warn
        clientPolicy.requiresPushedRequests = metadata.requiresPushedRequests
        clientPolicy.requiresBoundTokens = metadata.requiresBoundTokens
        clientPolicy.apply(policy, to: type)
        if let algorithm = metadata.idTokenAlgorithm.flatMap(SigningAlgorithm.init(rawValue:)),
            KeyRing.algorithms.contains(algorithm)
        {
            clientPolicy.idTokenAlgorithm = algorithm
        }
        if metadata.subjectType == SubjectType.pairwise.rawValue { clientPolicy.subjectType = .pairwise }
        return clientPolicy
    }
}

extension ClientPolicy {
    /// Replaces what the owner's policy for unregistered clients determines for a client of a type.
    mutating func apply(_ policy: UnregisteredClientPolicy, to type: ClientType) {
        refreshTokens = policy.refreshTokens
        refreshTokenLife = RefreshTokenLife(
            idleLifetime: policy.refreshIdleLifetime, lifetime: policy.refreshLifetime)
        accessTokenLifetime = policy.accessTokenLifetime ?? ClientPolicy.standard(for: type).accessTokenLifetime
    }
}
