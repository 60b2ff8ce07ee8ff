public import CounterfoilPlatform
public import CounterfoilProtocol
import HTTPTypes

/// The `client_id` that the client has at each server, and the ways to obtain one at a new server.
///
///     var client = ClientIdentification()
///     client.metadataDocument = try ClientMetadataDocument("https://lightbox.example/client.json")
///     client.registration = .init(as: "Lightbox", storedIn: store)
///     let signIn = NativeSignIn(issuer: issuer, client: client, scope: scope)
///
/// The client uses the first of these that is available, in the order of the MCP authorization specification:
///
/// 1. an identifier that the server issued in advance;
/// 2. the URL of its client metadata document, if the server supports such documents;
/// 3. a dynamic registration, if the server supports it (RFC 7591).
///
/// If none of them is available, the sign-in fails with ``SignInError/noClient(_:)``. The client then needs an
/// identifier from the server's operator.
public struct ClientIdentification: Sendable {
    /// The identifiers that servers issued to the client in advance, by issuer.
    public var registered: [Issuer: ClientIdentifier] = [:]
    /// The URL of the client metadata document; nil if the publisher of the client hosts no such document.
    public var metadataDocument: ClientMetadataDocument?
    /// The settings for dynamic registration; nil if the client never registers itself.
    public var registration: SelfRegistration?

    /// The metadata with which the client registers itself, and the store for the registrations (RFC 7591).
    public struct SelfRegistration: Sendable {
        /// The metadata of the client that the program chooses, such as its name.
        public var metadata: Metadata
        /// The initial access token, for servers that require one (RFC 7591 §3); nil sends none.
        ///
        /// A client that many users install cannot keep it confidential.
        public var initialAccessToken: AccessToken?
        /// The store for the registrations; it holds one registration for each issuer.
        public var store: any ClientRegistrationStore

        /// Creates settings; `name` appears on the consent page, and `store` keeps registrations for later sign-ins.
        public init(as name: String, storedIn store: any ClientRegistrationStore) {
            metadata = Metadata(name: name)
            self.store = store
        }

        /// The members of a registration request that the program chooses (RFC 7591 §2).
        public struct Metadata: Sendable, Hashable {
            /// `client_name`: the name that users see on the consent page.
            public var name: String
            /// `client_uri`: the URL of a page about the client; nil omits the member.
            public var clientURI: String?
            /// `logo_uri`: the URL of the logo on the consent page; nil omits the member.
            public var logoURI: String?
            /// `software_id`: an identifier of the software, the same in all its installations; nil omits the member.
            public var softwareID: String?
            /// `software_version`: the version of the software; nil omits the member.
            public var softwareVersion: String?

            /// Creates metadata with a name only.
            public init(name: String) { self.name = name }

            var optionalMembers: [(String, String)] {
                [
                    ("client_uri", clientURI), ("logo_uri", logoURI), ("software_id", softwareID),
                    ("software_version", softwareVersion),
                ].compactMap { name, value in value.map { (name, $0) } }
            }
        }

        /// Deletes the registration at an issuer from the server and from the store (RFC 7592 §2.3).
        ///
        /// Returns false if the store has no registration, or if the server did not offer its deletion. The
        /// registration is deleted from the store in any case. Tokens that were issued to the client may become
        /// invalid.
        @discardableResult
        public func delete(
            at issuer: Issuer, transport: any HTTPTransport = .standard
        ) async throws(SignInError) -> Bool {
            let kept: ClientRegistration?
            do {
                kept = try await store.registration(at: issuer)
                if kept != nil { try await store.removeRegistration(at: issuer) }
            } catch { throw .store(error) }
            guard let management = kept?.management, let endpoint = try? EndpointURL(management.url) else {
                return false
            }
            let response = try await transport.answer(
                to: TransportRequest(
                    endpoint, method: .delete,
                    headerFields: [.authorization: "Bearer \(management.accessToken.exposed)"]))
            switch response.statusCode {
            // RFC 7592 §2.3: 401 means that the server has already deleted the client.
            case 200..<300, 401, 404: return true
            case 405: return false
            default: throw .unsafe(.registration(.unreadableRefusal(response.statusCode)))
            }
        }
    }

    /// The way in which a client obtained its identifier at a server.
    public enum Origin: Sendable, Hashable {
        /// The server issued the identifier in advance.
        case preregistered
        /// The identifier is the URL of the client metadata document.
        case metadataDocument
        /// The client registered itself during this sign-in.
        case registeredNow
        /// The client registered itself in an earlier sign-in, at this time.
        case registeredEarlier(Date)
    }

    /// Creates a client without an identifier; set at least one of the properties before a sign-in.
    public init() {}

    /// Creates a client to which the server with this issuer issued an identifier in advance.
    public init(_ clientID: ClientIdentifier, at issuer: Issuer) { registered = [issuer: clientID] }
}

/// The result of one attempt to sign in.
enum SignInAttempt: Sendable {
    case signedIn(Credentials)
    /// The server does not know a client that registered earlier; the stored registration is deleted.
    case forgotten(SignInError)

    /// Returns the credentials of an attempt, or of a second one if the registration was forgotten.
    static func credentials(
        of attempt: () async throws(SignInError) -> SignInAttempt
    ) async throws(SignInError) -> Credentials {
        if case .signedIn(let credentials) = try await attempt() { return credentials }
        switch try await attempt() {
        case .signedIn(let credentials): return credentials
        case .forgotten(let error): throw error
        }
    }
}

struct IdentifiedClient: Sendable, Hashable {
    let id: ClientIdentifier
    let authentication: ClientAuthentication
    let origin: ClientIdentification.Origin

    /// Whether the client registered itself at the server, now or earlier.
    var isSelfRegistered: Bool {
        switch origin {
        case .preregistered, .metadataDocument: false
        case .registeredNow, .registeredEarlier: true
        }
    }
}

extension ClientIdentification {
    /// The maximum time to wait for another process that is registering the client at the same server.
    fileprivate static let lockTimeout = Duration.seconds(90)

    /// Returns the client's identifier and authentication at a server; registers the client first if necessary.
    ///
    /// A client secret is used only with the identifier for which it was issued. A private key is used with any
    /// identifier. This is safe, because an assertion names one server as its audience, and other servers reject it.
    func client(
        at server: AuthorizationServerConfiguration, authentication: ClientAuthentication, redirectURIs: [String],
        grantTypes: [String], scope: Scope, through transport: any HTTPTransport, at now: Date = Date()
    ) async throws(SignInError) -> IdentifiedClient {
        if let id = registered[server.issuer] {
            return IdentifiedClient(id: id, authentication: authentication, origin: .preregistered)
        }
        if let metadataDocument, server.supportsMetadataDocuments {
            // A client metadata document can contain public keys but no secret, so a client secret is not used.
            return IdentifiedClient(
                id: metadataDocument.clientID, authentication: authentication.key.map { .privateKey($0) } ?? .none,
                origin: .metadataDocument)
        }
        guard let registration, let endpoint = server.registrationEndpoint else { throw .noClient(server.issuer) }
        let request = ClientRegistrationRequest(
            metadata: registration.metadata, redirectURIs: redirectURIs, grantTypes: grantTypes, scope: scope,
            key: authentication.key)
        do {
            return try await registration.client(
                for: request, at: endpoint, of: server.issuer, through: transport, at: now)
        } catch let error as TokenStoreError {
            throw .store(error)
        } catch let error as SignInError {
            throw error
        } catch { throw .cancelled }
    }

    /// Returns true if the client registers itself at a server, with redirect URIs of its choice (RFC 7591).
    func registersItself(at server: AuthorizationServerConfiguration) -> Bool {
        registered[server.issuer] == nil && !(metadataDocument != nil && server.supportsMetadataDocuments)
            && registration != nil && server.registrationEndpoint != nil
    }

    /// Deletes a stored registration if an error suggests that the server has deleted the client.
    ///
    /// Returns true if the client registered in an earlier sign-in and the server has said that it does not know the
    /// client. The sign-in can then register the client again and start over.
    func forget(_ client: IdentifiedClient, at issuer: Issuer, after error: SignInError) async -> Bool {
        guard let registration else { return false }
        let isEarlier: Bool
        switch client.origin {
        case .registeredEarlier: isEarlier = true
        case .registeredNow: isEarlier = false
        case .preregistered, .metadataDocument: return false
        }
        let isUnknown: Bool
        switch error {
        case .refused(let refusal):
            guard Self.refusalsOfUnknownClients.contains(refusal.code) else { return false }
            isUnknown = true
        // A server that does not know the client shows an error page and does not redirect the browser, so the
        // sign-in times out (RFC 6749 §4.1.2.1).
        case .timedOut:
            guard isEarlier else { return false }
            isUnknown = false
        default: return false
        }
        guard let kept = try? await registration.store.registration(at: issuer), kept.clientID == client.id else {
            // Another process has already registered the client again.
            return isUnknown && isEarlier
        }
        try? await registration.store.removeRegistration(at: issuer)
        return isUnknown && isEarlier
    }

    /// The errors of a server that does not know the client, or not with this redirect URI.
    private static let refusalsOfUnknownClients: Set<OAuthError.Code> = [
        .invalidClient, .unauthorizedClient, OAuthError.Code(rawValue: "invalid_redirect_uri"),
        OAuthError.Code(rawValue: "redirect_uri_mismatch"),
    ]
}

extension ClientIdentification.SelfRegistration {
    /// Returns the stored registration if it covers the request; if not, registers the client and stores the result.
    fileprivate func client(
        for request: ClientRegistrationRequest, at endpoint: EndpointURL, of issuer: Issuer,
        through transport: any HTTPTransport,
        at now: Date
    ) async throws -> IdentifiedClient {
        if let kept = try await kept(for: request, at: issuer, now: now) { return kept }
        let lock = try await store.registrationLock(
            at: issuer, within: ClientIdentification.lockTimeout)
        // Another process may have registered the client while this task waited for the lock.
        if let kept = try await kept(for: request, at: issuer, now: now) { return kept }
        let former = try await store.registration(at: issuer)
        let new = try await request.including(former).register(
            at: endpoint, of: issuer, with: initialAccessToken, through: transport, at: now)
        try await store.save(new)
        lock.release()
        return IdentifiedClient(id: new.clientID, authentication: new.authentication, origin: .registeredNow)
    }

    private func kept(
        for request: ClientRegistrationRequest, at issuer: Issuer, now: Date
    ) async throws(TokenStoreError) -> IdentifiedClient? {
        guard let kept = try await store.registration(at: issuer), kept.issuer == issuer, kept.fits(request, at: now)
        else {
            return nil
        }
        return IdentifiedClient(
            id: kept.clientID, authentication: kept.authentication, origin: .registeredEarlier(kept.since))
    }
}
