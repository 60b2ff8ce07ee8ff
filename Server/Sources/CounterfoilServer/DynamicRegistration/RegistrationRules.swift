import CounterfoilProtocol
import CounterfoilStore
import CounterfoilTokens
import Foundation

extension UnregisteredClientRules {
    /// Returns the client that a registration describes (RFC 7591 §2).
    ///
    /// A value that the client relies on, and that the server does not support, is refused. What the server does not
    /// use is left out, and the response shows the rest (RFC 7591 §3.2.1). A native client gets the method `none`,
    /// whatever it asked for, because a secret in a program on the device of a user protects nothing (RFC 8252 §8.5).
    /// A client with only the device grant gets the method that it names, and `none` if it names none (RFC 8628 §3.1).
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - id: The identifier of the client.
    ///   - former: The registration that the new one replaces; nil if there is none.
    ///   - now: The current time.
    func registration(
        _ request: RegistrationRequest, id: ClientIdentifier, replacing former: RegisteredClient? = nil, now: Date
    ) throws(Refusal) -> CheckedRegistration {
        let metadata = request.metadata
        let grants = try RegisteredGrants(metadata)
        let type = try type(of: metadata, grants: grants)
        let method =
            switch type {
            case .web, .service: metadata.authenticationMethod ?? "client_secret_basic"
            case .device: metadata.authenticationMethod ?? "none"
            case .native, .singlePage: "none"
            }
        let usesKeys = method == "private_key_jwt"
        let redirectURIs = try redirectURIs(metadata, of: type, id: id)
        let keys = try publishedKeys(metadata, isNeeded: usesKeys)
        let algorithm = try idTokenAlgorithm(metadata)
        let sector = try sector(metadata, redirectURIs: redirectURIs)
        try checkPresentation(metadata)
        let name = metadata.name ?? ""
        let isKept = former.map { NamedHosts.foreignNames(of: $0).contains(name) } ?? false
        if !isKept, let foreign = NamedHosts(in: name).foreign(to: redirectURIs, of: type) {
            throw Refusal("client_name contains \(foreign), which is not the host of the redirect URIs")
        }
        let client = RegisteredClient(
            id: id, type: type,
            presentation: presentation(
                metadata, fallbackName: redirectURIs.lazy.compactMap(\.uri.host).first ?? id.rawValue),
            redirectURIs: redirectURIs, scope: scope, origins: Self.origins(of: type, redirectURIs),
            postLogoutRedirectURIs: try postLogoutRedirectURIs(metadata, of: type, id: id),
            backchannelLogoutURI: try backchannelLogoutURI(metadata, of: type),
            keys: usesKeys ? keys ?? JSONWebKeySet() : nil, keysURI: usesKeys ? try keysURI(metadata) : nil,
            policy: registrationPolicy(for: type, metadata, idTokenAlgorithm: algorithm), createdAt: now)
        return CheckedRegistration(
            client: client, authenticationMethod: method,
            members: members(of: client, request, grants: grants, authenticationMethod: method),
            sectorIdentifierURI: sector)
    }

    /// The methods of client authentication that a client can register.
    private static let authenticationMethods = [
        "none", "client_secret_basic", "client_secret_post", "private_key_jwt",
    ]

    /// Determines the type of a client.
    ///
    /// A client that names neither a method nor an `application_type`, and only redirect URIs on the device of the
    /// user, is native: the defaults of RFC 7591 would give a command-line program a secret.
    private func type(of metadata: ClientMetadata, grants: RegisteredGrants) throws(Refusal) -> ClientType {
        let method = metadata.authenticationMethod
        if let method, !Self.authenticationMethods.contains(method) {
            throw Refusal(
                "token_endpoint_auth_method \(method.prefix(100)) is not supported; "
                    + "use one of \(Self.authenticationMethods.joined(separator: ", "))")
        }
        guard grants.usesCode else { return .device }
        let type = codeType(of: metadata)
        guard !grants.usesDevice || type.usesDeviceGrant else {
            throw Refusal("grant_types contains the device grant, which only a client with application_type native has")
        }
        return type
    }

    private func codeType(of metadata: ClientMetadata) -> ClientType {
        switch (metadata.authenticationMethod, metadata.applicationType) {
        case ("private_key_jwt"?, _): return .web
        case (_, .native?): return .native
        case ("none"?, .web?): return .singlePage
        case (_, .web?): return .web
        case ("none"?, nil): return Self.publicType(of: metadata)
        case (nil, nil):
            let isOnDevice = metadata.redirectURIs.allSatisfy(Self.isOnDevice)
            return isOnDevice && !metadata.redirectURIs.isEmpty ? .native : .web
        case (_?, nil):
            // Only a program on a device can have a private-use scheme (RFC 8252 §7.1).
            let hasScheme = metadata.redirectURIs.contains { text in
                if case .privateUseScheme? = (try? RedirectURI(text))?.kind { true } else { false }
            }
            return hasScheme ? .native : .web
        }
    }

    private static func isOnDevice(_ redirectURI: String) -> Bool {
        switch (try? RedirectURI(redirectURI))?.kind {
        case .loopback?, .privateUseScheme?: true
        case .https?, nil: false
        }
    }

    /// Checks `jwks` and `jwks_uri`; a client with `private_key_jwt` needs one of them.
    private func publishedKeys(_ metadata: ClientMetadata, isNeeded: Bool) throws(Refusal) -> JSONWebKeySet? {
        let keys = try keys(metadata)
        _ = try keysURI(metadata)
        guard isNeeded else { return keys }
        guard keys != nil || metadata.keysURI != nil else { throw Refusal("private_key_jwt needs jwks or jwks_uri") }
        if let keys, keys.keys.isEmpty { throw Refusal("jwks contains no key that can verify a client_assertion") }
        return keys
    }

    private func idTokenAlgorithm(_ metadata: ClientMetadata) throws(Refusal) -> SigningAlgorithm {
        // OpenID Connect Registration §2: RS256 is the default.
        guard let name = metadata.idTokenAlgorithm else { return .rs256 }
        guard let algorithm = SigningAlgorithm(rawValue: name), KeyRing.algorithms.contains(algorithm) else {
            throw Refusal(
                "id_token_signed_response_alg must be one of "
                    + KeyRing.algorithms.map(\.rawValue).joined(separator: ", "))
        }
        return algorithm
    }

    /// Checks `subject_type` and `sector_identifier_uri` (OpenID Connect Core §8.1).
    private func sector(_ metadata: ClientMetadata, redirectURIs: [RedirectURI]) throws(Refusal) -> AbsoluteURI? {
        if let name = metadata.subjectType, SubjectType(rawValue: name) == nil {
            throw Refusal("subject_type must be public or pairwise")
        }
        guard let text = metadata.sectorIdentifierURI else {
            let hosts = Set(
                redirectURIs.compactMap { uri in if case .https(let host) = uri.kind { host } else { nil } })
            guard metadata.subjectType != SubjectType.pairwise.rawValue || hosts.count <= 1 else {
                throw Refusal("subject_type pairwise with redirect URIs on several hosts needs sector_identifier_uri")
            }
            return nil
        }
        guard let uri = AbsoluteURI(ofPage: text) else { throw Refusal("sector_identifier_uri must be an https URL") }
        return uri
    }

    /// Checks the name for users (RFC 7591 §5); a link that pages cannot show is left out.
    private func checkPresentation(_ metadata: ClientMetadata) throws(Refusal) {
        if let name = metadata.name, Self.shownName(name) == nil {
            throw Refusal("client_name must have 1 to 100 characters, none of which is invisible")
        }
    }

    private func registrationPolicy(
        for type: ClientType, _ metadata: ClientMetadata, idTokenAlgorithm: SigningAlgorithm
    ) -> ClientPolicy {
        var clientPolicy = policy(for: type, metadata)
        // A web client may send OpenID's nonce instead of a code challenge, as one that a person registered.
        clientPolicy.pkce = ClientPolicy.standard(for: type).pkce
        clientPolicy.idTokenAlgorithm = idTokenAlgorithm
        return clientPolicy
    }
}
